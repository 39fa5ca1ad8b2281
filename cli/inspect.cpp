// `tandem inspect`: what is in a model file.
#include <algorithm>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/format.h"
#include "cli/model_options.h"
#include "cli/subcommands.h"
#include "gguf/fault.h"
#include "parallel/plan_print.h"

namespace tandem::cli {

namespace {

using nlohmann::ordered_json;

constexpr Option list[] = {
    {"--json", "", "write all of it as JSON"},
};
constexpr OptionGroup inspect_options{"output", list};
constexpr const OptionGroup* groups[] = {&file_options, &inspect_options};

// Columns are no wider: one long name must not widen every line.
constexpr size_t widest = 64;

// A name that a file holds; what a terminal would take for a command is escaped.
std::string shown(const std::string& name) {
    const bool plain = std::ranges::all_of(name, [](char c) { return c >= ' ' && c <= '~'; });
    return plain ? name : gguf::in_quotes(name, name.size());
}

std::string padded(std::string text, size_t width) {
    text.resize(std::max(width, text.size()), ' ');
    return text;
}

std::string right(const std::string& text, size_t width) {
    return std::string(width - std::min(width, text.size()), ' ') + text;
}

std::string count_text(int64_t count) {
    const char* units[] = {"", " K", " M", " B"};
    double value = double(count);
    size_t unit = 0;
    for (; value >= 1000 && unit + 1 < std::size(units); ++unit) value /= 1000;
    return format("%.*f%s", unit == 0 ? 0 : 2, value, units[unit]);
}

// Extents as files list them: the row length first.
std::string shape_text(const gguf::TensorInfo& tensor) {
    std::string text;
    for (int i = 0; i < tensor.dims; ++i)
        text += (i > 0 ? " x " : "") + std::to_string(tensor.extents[size_t(i)]);
    return text;
}

struct Total {
    int64_t tensors = 0, elements = 0, bytes = 0;

    void add(const gguf::TensorInfo& tensor) {
        ++tensors;
        elements += tensor.elements();
        bytes += tensor.bytes();
    }
    std::string text() const {
        return std::to_string(tensors) + (tensors == 1 ? " tensor, " : " tensors, ") +
               count_text(elements) + " parameters, " + parallel::in_bytes(double(bytes));
    }
};

Total total_of(const gguf::File& file, std::map<std::string, Total>& by_type) {
    Total total;
    for (const gguf::TensorInfo& tensor : file.tensors()) {
        total.add(tensor);
        by_type[std::string(gguf::name(tensor.dtype))].add(tensor);
    }
    return total;
}

std::string as_table(const gguf::File& file) {
    std::string out = file.path() + ": GGUF version " + std::to_string(file.version()) + ", " +
                      std::to_string(file.metadata().entries().size()) + " keys, " +
                      std::to_string(file.tensors().size()) + " tensors\n";
    size_t width = 0;
    for (const auto& [key, value] : file.metadata().entries())
        width = std::max(width, shown(key).size());
    width = std::min(width, widest);
    if (width > 0) out += "\n";
    for (const auto& [key, value] : file.metadata().entries())
        out += padded(shown(key), width) + "  " + gguf::describe(value, 6) + "\n";
    if (file.tensors().empty()) return out;

    size_t names = 0, shapes = 0;
    for (const gguf::TensorInfo& tensor : file.tensors()) {
        names = std::max(names, shown(tensor.name).size());
        shapes = std::max(shapes, shape_text(tensor).size());
    }
    out += "\n";
    for (const gguf::TensorInfo& tensor : file.tensors())
        out += padded(shown(tensor.name), names) + "  " +
               padded(std::string(gguf::name(tensor.dtype)), 7) + "  " +
               padded(shape_text(tensor), shapes) + "  " +
               right(parallel::in_bytes(double(tensor.bytes())), 10) + "\n";
    std::map<std::string, Total> by_type;
    const Total total = total_of(file, by_type);
    out += "\n" + padded("total", 8) + total.text() + "\n";
    for (const auto& [type, part] : by_type) out += padded(type, 8) + part.text() + "\n";
    return out;
}

ordered_json to_json(const gguf::MetadataValue& value) {
    return std::visit(
        [&](const auto& elements) {
            ordered_json array = ordered_json::array();
            for (const auto& element : elements) {
                if (value.type == gguf::ValueType::Bool)
                    array.push_back(element != std::decay_t<decltype(element)>{});
                else
                    array.push_back(element);
            }
            return value.array ? array : array.at(0);
        },
        value.elements);
}

std::string as_json(const gguf::File& file) {
    ordered_json root{{"path", file.path()}, {"version", file.version()}};
    root["metadata"] = ordered_json::object();
    for (const auto& [key, value] : file.metadata().entries())
        root["metadata"][key] = to_json(value);
    root["tensors"] = ordered_json::array();
    for (const gguf::TensorInfo& tensor : file.tensors())
        root["tensors"].push_back(
            {{"name", tensor.name},
             {"type", gguf::name(tensor.dtype)},
             {"shape",
              std::vector<int64_t>(tensor.extents.begin(), tensor.extents.begin() + tensor.dims)},
             {"offset", tensor.offset},
             {"part", tensor.part},
             {"bytes", tensor.bytes()}});
    std::map<std::string, Total> by_type;
    const Total total = total_of(file, by_type);
    root["total"] = {
        {"tensors", total.tensors}, {"parameters", total.elements}, {"bytes", total.bytes}};
    // Bytes of texts that are no UTF-8 are replaced.
    return root.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

int run(const Arguments& arguments) {
    const std::filesystem::path path = model_path(arguments);
    gguf::File file = gguf::File::open(path, gguf::Content::Directory);
    std::cout << (arguments.on("json") ? as_json(file) : as_table(file)) << std::flush;
    // What is wrong with the data does not hide what the directory says.
    gguf::File::open(path, gguf::Content::Full);
    return 0;
}

}  // namespace

const Subcommand inspect_command{
    "inspect", "shows what is in a model file", "FILE [--json]", groups, run, "model"};

}  // namespace tandem::cli
