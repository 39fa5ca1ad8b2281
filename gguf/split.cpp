#include "gguf/split.h"

#include <algorithm>

#include "gguf/fault.h"

namespace tandem::gguf {

namespace {

constexpr size_t digits = 5;
constexpr int64_t most_parts = 65535;

std::string padded(int number) {
    const std::string text = std::to_string(number);
    return std::string(digits - std::min(digits, text.size()), '0') + text;
}

std::optional<int> read_number(const std::string& text) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    if (text.size() != digits || !std::all_of(text.begin(), text.end(), is_digit)) return {};
    return std::stoi(text);
}

}  // namespace

std::filesystem::path SplitName::path(int of_part) const {
    return folder / (prefix + "-" + padded(of_part + 1) + "-of-" + padded(count) + ".gguf");
}

std::optional<SplitName> read_split_name(const std::filesystem::path& path) {
    const std::string stem = path.stem().string();
    constexpr size_t suffix = 1 + digits + 4 + digits;  // -00002-of-00003
    if (path.extension() != ".gguf" || stem.size() < suffix) return {};
    const size_t begin = stem.size() - suffix;
    const auto part = read_number(stem.substr(begin + 1, digits));
    const auto count = read_number(stem.substr(begin + 1 + digits + 4));
    if (stem[begin] != '-' || stem.compare(begin + 1 + digits, 4, "-of-") != 0) return {};
    if (!part || !count || *part < 1 || *part > *count) return {};
    return SplitName{.folder = path.parent_path(),
                     .prefix = stem.substr(0, begin),
                     .part = *part - 1,
                     .count = *count};
}

SplitKeys read_split_keys(const Metadata& metadata, const std::string& path) {
    const int64_t count = metadata.integer("split.count").value_or(1);
    if (count == 0 || count == 1) return {};
    const int64_t part = metadata.integer("split.no").value_or(0);
    if (count < 0 || count > most_parts || part < 0 || part >= count) {
        throw fault(path, "E_SPLIT",
                    "split.no is " + std::to_string(part) + " and split.count is " +
                        std::to_string(count) + ", allowed are a part below the count and up to " +
                        std::to_string(most_parts) + " parts");
    }
    return {
        .part = int(part), .count = int(count), .tensors = metadata.integer("split.tensors.count")};
}

}  // namespace tandem::gguf
