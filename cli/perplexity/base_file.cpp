#include "cli/perplexity/base_file.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <utility>

#include "gguf/error.h"

namespace tandem::cli {

namespace {

constexpr std::string_view magic = "_logits_";
constexpr size_t units_of_head = 4;  // of a row: two floats, as units of a code

size_t row_units(int64_t vocab) { return units_of_head + size_t(vocab + 1) / 2 * 2; }

template <typename Value>
std::string_view bytes_of(const Value& value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

}  // namespace

BaseWriter::BaseWriter(std::string path, Interrupts* interrupts)
    : file_(std::move(path), "the predictions", interrupts) {}

void BaseWriter::begin(int64_t length, int64_t vocab, std::span<const int32_t> tokens) {
    const int64_t windows = int64_t(tokens.size()) / length;
    file_.write(magic);
    for (const int64_t number : {length, vocab, windows}) file_.write(bytes_of(int32_t(number)));
    file_.write({reinterpret_cast<const char*>(tokens.data()), tokens.size_bytes()});
    row_.assign(2 * row_units(vocab), 0);
}

void BaseWriter::add(std::span<const float> logits) {
    check(2 * row_units(int64_t(logits.size())) == row_.size(),
          "a prediction is of the vocabulary");
    constexpr float depth = 16;
    const auto [least_at, most_at] = std::minmax_element(logits.begin(), logits.end());
    const float most = *most_at, least = std::max(*least_at, most - depth);
    double sum = 0;
    for (float logit : logits) sum += std::exp(logit - most);
    if (!std::isfinite(sum)) throw Error("the model's logits are not all numbers");
    const float head[2] = {(most - least) / 65535, least - most - float(std::log(sum))};
    std::memcpy(row_.data(), head, sizeof head);
    for (size_t i = 0; i < logits.size(); ++i) {
        const bool above = head[0] > 0 && logits[i] > least;
        const auto code =
            uint16_t(above ? std::min(std::nearbyint((logits[i] - least) / head[0]), 65535.0f) : 0);
        std::memcpy(row_.data() + sizeof head + i * sizeof code, &code, sizeof code);
    }
    file_.write({row_.data(), row_.size()});
}

BaseReader::BaseReader(std::string path) : path_(std::move(path)), file_(path_, std::ios::binary) {
    if (!file_)
        throw Error("cannot read the predictions from " + path_ + ": " + std::strerror(errno));
    char word[magic.size()];
    int32_t numbers[3];
    read(word, sizeof word);
    if (std::string_view(word, sizeof word) != magic)
        fail("it does not begin with " + std::string(magic));
    read(numbers, sizeof numbers);
    length_ = numbers[0], vocab_ = numbers[1], windows_ = numbers[2];
    if (length_ < 3 || vocab_ < 1 || windows_ < 1)
        fail("it claims " + std::to_string(windows_) + " windows of " + std::to_string(length_) +
             " tokens from " + std::to_string(vocab_));
    require_size();
    tokens_.resize(size_t(windows_ * length_));
    read(tokens_.data(), tokens_.size() * sizeof tokens_[0]);
    row_.resize(row_units(vocab_));
}

// Before anything is allocated or takes time.
void BaseReader::require_size() {
    const double predictions = double(windows_) * double(length_ - 1 - length_ / 2);
    const double needed = 20 + 4.0 * double(windows_) * double(length_) +
                          2.0 * predictions * double(row_units(vocab_));
    std::error_code error;
    const auto size = std::filesystem::file_size(path_, error);
    if (!error && double(size) < needed) fail("it ends early");
}

void BaseReader::fail(const std::string& why) const {
    throw Error(path_ + " has no predictions of a model: " + why);
}

void BaseReader::read(void* to, size_t bytes) {
    if (!file_.read(static_cast<char*>(to), std::streamsize(bytes))) fail("it ends early");
}

BasePrediction BaseReader::next() {
    read(row_.data(), row_.size() * sizeof row_[0]);
    BasePrediction prediction;
    std::memcpy(&prediction.scale, row_.data(), sizeof(float));
    std::memcpy(&prediction.least, row_.data() + 2, sizeof(float));
    prediction.codes = std::span(row_).subspan(units_of_head, size_t(vocab_));
    return prediction;
}

}  // namespace tandem::cli
