#include "parallel/device_table.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "gguf/error.h"

namespace tandem::parallel {

using nlohmann::json;

namespace {

constexpr double most_bytes = 0x1p62;  // more than any device has, within int64_t

double positive(const json& entry, const char* key, const std::string& of) {
    if (!entry.contains(key) || !entry[key].is_number() || !(entry[key].get<double>() >= 0))
        throw Error(of + " needs a number \"" + key + "\", 0 or more");
    return entry[key].get<double>();
}

Link read_link(const json& entry, const std::string& of) {
    const Link link{positive(entry, "seconds", of), positive(entry, "bytes_per_second", of)};
    if (link.bytes_per_second == 0)
        throw Error(of + " needs a number \"bytes_per_second\" above 0");
    return link;
}

// Throws Error for a name that no device has.
void set_link(DeviceTable& table, const std::string& from, const std::string& to, Link link) {
    for (const std::string& name : {from, to})
        if (std::none_of(table.devices.begin(), table.devices.end(),
                         [&](const DeviceRow& row) { return row.name == name; }))
            throw Error("a link is between \"" + from + "\" and \"" + to +
                        "\", but no device is named \"" + name + "\"");
    for (size_t a = 0; a < table.size(); ++a)
        for (size_t b = 0; b < table.size(); ++b)
            if (table.devices[a].name == from && table.devices[b].name == to)
                table.links[a][b] = table.links[b][a] = link;
}

DeviceTable read(const json& root) {
    DeviceTable table;
    if (!root.is_object() || !root.contains("devices") || !root["devices"].is_array() ||
        root["devices"].empty())
        throw Error("needs a list \"devices\" with at least one entry");
    for (const json& entry : root["devices"]) {
        if (!entry.is_object() || !entry.contains("name") || !entry["name"].is_string())
            throw Error("every entry of \"devices\" needs a \"name\"");
        std::string name = entry["name"], of = "device " + name;
        if (entry.contains("rounding") && !entry["rounding"].is_string())
            throw Error(of + " needs a text \"rounding\", or none");
        table.devices.push_back(
            {.name = name,
             .free_bytes = int64_t(std::min(positive(entry, "free_bytes", of), most_bytes)),
             .bytes_per_second = positive(entry, "bytes_per_second", of),
             .multiply_adds_per_second = positive(entry, "multiply_adds_per_second", of),
             .rounding = entry.value("rounding", "")});
    }
    Link all;
    if (root.contains("link")) all = read_link(root["link"], "\"link\"");
    table.links.assign(table.size(), std::vector<Link>(table.size(), all));
    for (const json& entry : root.value("links", json::array())) {
        if (!entry.contains("between") || !entry["between"].is_array() ||
            entry["between"].size() != 2 || !entry["between"][0].is_string() ||
            !entry["between"][1].is_string())
            throw Error("every entry of \"links\" needs \"between\" with two device names");
        set_link(table, entry["between"][0], entry["between"][1], read_link(entry, "a link"));
    }
    return table;
}

std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream in(path);
    std::string text;
    char block[4096];
    while (in.read(block, sizeof block), in.gcount() > 0) text.append(block, size_t(in.gcount()));
    // A folder can be opened, but not read.
    if (!in.is_open() || in.bad())
        throw Error("cannot read the device table " + path.string() + ": " + std::strerror(errno));
    return text;
}

bool same_name(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
        return std::tolower(x) == std::tolower(y);
    });
}

// The first row of that name which is not among `taken`.
size_t find_row(const DeviceTable& table, const std::string& name,
                const std::vector<size_t>& taken) {
    std::string known;
    for (size_t row = 0; row < table.size(); ++row) {
        if (same_name(table.devices[row].name, name) &&
            std::find(taken.begin(), taken.end(), row) == taken.end())
            return row;
        known += (known.empty() ? "" : ", ") + table.devices[row].name;
    }
    throw Error("no row is left for device " + name + "; there are " + known +
                ", and -dev chooses among them");
}

DeviceTable rows_of(const DeviceTable& table, std::span<const std::string> names) {
    std::vector<size_t> rows;
    for (const std::string& name : names) rows.push_back(find_row(table, name, rows));
    DeviceTable chosen;
    for (size_t a : rows) {
        chosen.devices.push_back(table.devices[a]);
        std::vector<Link>& links = chosen.links.emplace_back();
        for (size_t b : rows) links.push_back(table.links[a][b]);
    }
    return chosen;
}

}  // namespace

DeviceTable parse_device_table(const std::string& text, const std::filesystem::path& path,
                               std::span<const std::string> names) {
    try {
        const DeviceTable table = read(json::parse(text));
        return names.empty() ? table : rows_of(table, names);
    } catch (const json::parse_error& error) {
        throw Error("device table " + path.string() + ": is no JSON from byte " +
                    std::to_string(error.byte) + " on");
    } catch (const json::exception&) {
        throw Error("device table " + path.string() + ": holds a number that is too large");
    } catch (const Error& error) {
        throw Error("device table " + path.string() + ": " + error.what());
    }
}

int64_t lacking_bytes(const DeviceTable& table, std::span<const int64_t> needed, size_t device) {
    const DeviceRow& row = table.devices[device];
    auto of_part = [&](size_t i) { return needed[i] - table.devices[i].free_bytes; };
    if (of_part(device) <= 0) return 0;
    if (!row.memory) return of_part(device);
    int64_t of_memory = 0, of_parts = 0;
    for (size_t i = 0; i < table.size(); ++i) {
        if (table.devices[i].memory != row.memory) continue;
        of_memory += of_part(i);
        of_parts += std::max<int64_t>(0, of_part(i));
    }
    if (of_memory <= 0) return 0;
    return int64_t(std::ceil(double(of_part(device)) / double(of_parts) * double(of_memory)));
}

void require_links(const DeviceTable& table, size_t count) {
    for (size_t a = 0; a < count; ++a)
        for (size_t b = a + 1; b < count; ++b)
            if (table.links[a][b].bytes_per_second == 0)
                throw Error("the device table has no link between " + table.devices[a].name +
                            " and " + table.devices[b].name +
                            ", which split mode graph needs: add it, or give a ratio (-ts)");
}

DeviceTable read_device_table(const std::filesystem::path& path,
                              std::span<const std::string> names) {
    return parse_device_table(bytes_of(path), path, names);
}

std::string to_text(const DeviceTable& table) {
    json root;
    for (const DeviceRow& row : table.devices)
        root["devices"].push_back({{"name", row.name},
                                   {"free_bytes", row.free_bytes},
                                   {"bytes_per_second", row.bytes_per_second},
                                   {"multiply_adds_per_second", row.multiply_adds_per_second},
                                   {"rounding", row.rounding}});
    root["links"] = json::array();
    for (size_t a = 0; a < table.size(); ++a)
        for (size_t b = a + 1; b < table.size(); ++b) {
            if (table.links[a][b].bytes_per_second == 0) continue;  // not known
            root["links"].push_back({{"between", {table.devices[a].name, table.devices[b].name}},
                                     {"seconds", table.links[a][b].seconds},
                                     {"bytes_per_second", table.links[a][b].bytes_per_second}});
        }
    return root.dump(2) + "\n";
}

void write_device_table(const std::filesystem::path& path, const DeviceTable& table) {
    std::ofstream out(path);
    out << to_text(table);
    if (!out.flush())
        throw Error("cannot write the device table " + path.string() + ": " + std::strerror(errno));
}

}  // namespace tandem::parallel
