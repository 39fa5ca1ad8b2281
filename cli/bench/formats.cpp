#include "cli/bench/formats.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "cli/format.h"
#include "gguf/error.h"

namespace tandem::cli {

namespace {

// Markdown.

struct Column {
    std::string_view name;
    size_t width;
    bool left;  // aligned to the left
    bool (*shown)(const Columns& columns);
    std::string (*cell)(const Row& row);
};

bool always(const Columns&) { return true; }

std::string size_text(const Row& row) {
    const double mebibytes = double(row.bytes) / (1 << 20);
    return mebibytes < 1024 ? format("%.2f MiB", mebibytes) : format("%.2f GiB", mebibytes / 1024);
}

std::string parameters_text(const Row& row) {
    const double millions = double(row.parameters) * 1e-6;
    return millions < 1000 ? format("%.2f M", millions) : format("%.2f B", millions * 1e-3);
}

std::string rate_text(const Row& row) {
    return format("%.2f \xC2\xB1 %.2f", mean(row.rates()), deviation(row.rates()));
}

std::string share_text(double share) { return format("%.1f %%", 100 * share); }

constexpr Column table[] = {
    {"model", 30, true, always, [](const Row& row) { return row.model; }},
    {"size", 10, false, always, size_text},
    {"params", 10, false, always, parameters_text},
    {"backend", 10, true, always, [](const Row& row) { return row.backends; }},
    {"threads", 7, false, always, [](const Row& row) { return std::to_string(row.threads); }},
    {"n_batch", 7, false, [](const Columns& columns) { return columns.batch; },
     [](const Row& row) { return std::to_string(row.test.batch); }},
    {"n_ubatch", 8, false, [](const Columns& columns) { return columns.step; },
     [](const Row& row) { return std::to_string(row.test.step); }},
    {"type_k", 6, false, [](const Columns& columns) { return columns.key_type; },
     [](const Row& row) { return type_text(row.test.setup.key_type); }},
    {"type_v", 6, false, [](const Columns& columns) { return columns.value_type; },
     [](const Row& row) { return type_text(row.test.setup.value_type); }},
    {"main_gpu", 10, false, [](const Columns& columns) { return columns.main_device; },
     [](const Row& row) { return std::to_string(row.test.setup.main_device); }},
    {"n_cpu_moe", 10, false, [](const Columns& columns) { return columns.expert_blocks; },
     [](const Row& row) { return std::to_string(row.test.setup.overrides.expert_blocks); }},
    {"sm", 6, false, [](const Columns& columns) { return columns.mode; },
     [](const Row& row) { return row.test.setup.mode; }},
    {"dev", 12, true, [](const Columns& columns) { return columns.devices; },
     [](const Row& row) { return devices_text(row.test.setup); }},
    {"ts", 12, true, [](const Columns& columns) { return columns.ratio; },
     [](const Row& row) { return ratio_text(row.test.setup); }},
    {"ot", 12, true, [](const Columns& columns) { return columns.overrides; },
     [](const Row& row) { return overrides_text(row.test.setup); }},
    {"n_parallel", 10, false, [](const Columns& columns) { return columns.sequences; },
     [](const Row& row) { return std::to_string(row.test.setup.sequences); }},
    {"test", 15, false, always, [](const Row& row) { return row.label(); }},
    {"t/s", 20, false, always, rate_text},
    {"limit", 7, false, always, [](const Row& row) { return share_text(row.share()); }},
    {"read", 7, false, always,
     [](const Row& row) { return share_text(row.share(row.least.reading)); }},
    {"multiply", 8, false, always,
     [](const Row& row) { return share_text(row.share(row.least.multiplying)); }},
};

// Characters, which is what a cell is wide.
size_t width_of(const std::string& text) {
    size_t count = 0;
    for (char c : text) count += (c & 0xC0) != 0x80;
    return count;
}

std::string cell(const Column& column, const std::string& text) {
    const size_t width = width_of(text);
    const std::string gap(width < column.width ? column.width - width : 0, ' ');
    return " " + (column.left ? text + gap : gap + text) + " |";
}

std::string md_head(const Columns& columns) {
    std::string names = "|", rule = "|";
    for (const Column& column : table) {
        if (!column.shown(columns)) continue;
        names += cell(column, std::string(column.name));
        rule += " " + std::string(column.width - 1, '-') + (column.left ? "- |" : ": |");
    }
    return names + "\n" + rule + "\n";
}

std::string md_row(const Row& row, const Columns& columns, bool) {
    std::string line = "|";
    for (const Column& column : table)
        if (column.shown(columns)) line += cell(column, column.cell(row));
    return line + "\n";
}

// Rows of the same devices have the same limits, unless one was faster and they were measured
// again.
std::string md_foot(std::string_view build, std::span<const Row> rows) {
    std::vector<std::string> limits;
    for (const Row& row : rows)
        if (std::string text = limits_text(row);
            std::find(limits.begin(), limits.end(), text) == limits.end())
            limits.push_back(std::move(text));
    std::string text;
    for (const std::string& line : limits) text += "\nlimits: " + line + "\n";
    return text + "\nbuild: " + std::string(build) + "\n";
}

// Values.

std::string nothing(const Columns&) { return {}; }
std::string no_foot(std::string_view, std::span<const Row>) { return {}; }

std::string number_text(const Field& field) {
    if (auto* number = std::get_if<int64_t>(&field.value)) return std::to_string(*number);
    return format("%f", std::get<double>(field.value));
}

std::string json_value(const Field& field) {
    // Bytes of names that are no UTF-8 are replaced.
    if (auto* text = std::get_if<std::string>(&field.value))
        return nlohmann::json(*text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    if (auto* flag = std::get_if<bool>(&field.value)) return *flag ? "true" : "false";
    return number_text(field);
}

template <typename Samples, typename Print>
std::string json_samples(const Samples& samples, const Print& print) {
    std::string text;
    for (auto sample : samples) text += (text.empty() ? "" : ", ") + print(sample);
    return "[ " + text + " ]";
}

// `before` stands in front of every field, `after` behind every value but the last.
std::string json_fields(const Row& row, const std::string& before, const std::string& after,
                        const std::string& between_samples) {
    std::string text;
    auto name = [&](std::string_view field) { return before + "\"" + std::string(field) + "\": "; };
    for (const Field& field : fields(row)) text += name(field.name) + json_value(field) + after;
    text += name("samples_ns") +
            json_samples(row.nanoseconds, [](int64_t time) { return std::to_string(time); });
    return text + between_samples + name("samples_ts") +
           json_samples(row.rates(), [](double rate) { return format("%g", rate); });
}

std::string json_head(const Columns&) { return "[\n"; }
std::string json_row(const Row& row, const Columns&, bool first) {
    return std::string(first ? "" : ",\n") + "  {\n" + json_fields(row, "    ", ",\n", ",\n") +
           "\n  }";
}
std::string json_foot(std::string_view, std::span<const Row> rows) {
    return rows.empty() ? "]\n" : "\n]\n";
}

std::string jsonl_row(const Row& row, const Columns&, bool) {
    return "{" + json_fields(row, "", ", ", ",") + "}\n";
}

std::string csv_value(const Field& field) {
    if (auto* flag = std::get_if<bool>(&field.value)) return *flag ? "1" : "0";
    auto* text = std::get_if<std::string>(&field.value);
    if (!text) return number_text(field);
    std::string quoted;
    for (char c : *text) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted;
}

std::string csv_head(const Columns&) {
    std::string line;
    for (const Field& field : fields({}))
        line += (line.empty() ? "" : ",") + std::string(field.name);
    return line + "\n";
}
std::string csv_row(const Row& row, const Columns&, bool) {
    std::string line;
    for (const Field& field : fields(row))
        line += (line.empty() ? "\"" : ",\"") + csv_value(field) + "\"";
    return line + "\n";
}

constexpr Format formats[] = {
    {"md", md_head, md_row, md_foot},
    {"csv", csv_head, csv_row, no_foot},
    {"json", json_head, json_row, json_foot},
    {"jsonl", nothing, jsonl_row, no_foot},
};

}  // namespace

const Format& find_format(std::string_view name) {
    std::string known;
    for (const Format& format : formats) {
        if (format.name == name) return format;
        known += (known.empty() ? "" : ", ") + std::string(format.name);
    }
    throw Error("there is no output format \"" + std::string(name) + "\": choose one of " + known);
}

}  // namespace tandem::cli
