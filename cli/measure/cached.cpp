#include "cli/measure/cached.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "cli/format.h"
#include "cli/synth/random_rows.h"
#include "gguf/error.h"
#include "kernels/devices.h"
#include "kernels/host.h"

namespace tandem::cli {

namespace {

namespace fs = std::filesystem;

// Folders of users may be shared by machines.
std::string machine() {
    char name[256] = {};
    if (::gethostname(name, sizeof name - 1) != 0) name[0] = 0;
    return std::string(name) + "|" + std::to_string(kernels::total_memory());
}

fs::path path_of(const MeasuredDevices& devices, const std::string& kind) {
    std::string key = machine();
    for (const auto& device : kernels::make_devices(devices.names, devices.how)) {
        const kernels::Description& description = device->description();
        key += "|" + description.name + "|" + description.kind + "|" + description.features;
    }
    const auto number = static_cast<unsigned long long>(hash(key));
    return devices.folder / format("%s-%016llx.json", kind.c_str(), number);
}

// Readers see the old file or the new one.
template <typename Write>
void replace(const fs::path& path, const Write& write) {
    std::error_code ignored;
    const fs::path unfinished = path.string() + "." + std::to_string(::getpid());
    fs::create_directories(path.parent_path(), ignored);
    try {
        write(unfinished);
        fs::rename(unfinished, path);
    } catch (const std::exception&) {
        fs::remove(unfinished, ignored);
    }
}

std::optional<parallel::DeviceTable> read_speeds(const fs::path& path, size_t count) {
    if (!fs::exists(path)) return {};
    try {
        parallel::DeviceTable table = parallel::read_device_table(path);
        if (table.size() == count) return table;
    } catch (const std::exception&) {
        // What cannot be read is made anew.
    }
    return {};
}

std::optional<kernels::Limits> read_limits(const fs::path& path) {
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_object()) return {};
    kernels::Limits limits;
    for (auto [key, number] :
         {std::pair("bytes_per_second", &limits.bytes_per_second),
          {"multiply_adds_per_second", &limits.multiply_adds_per_second},
          {"float_multiply_adds_per_second", &limits.float_multiply_adds_per_second}}) {
        if (!json.contains(key) || !json[key].is_number()) return {};
        *number = json[key].get<double>();
        if (!(*number > 0)) return {};
    }
    return limits;
}

void write_limits(const fs::path& path, const kernels::Limits& limits) {
    std::ofstream out(path);
    out << nlohmann::json{{"bytes_per_second", limits.bytes_per_second},
                          {"multiply_adds_per_second", limits.multiply_adds_per_second},
                          {"float_multiply_adds_per_second", limits.float_multiply_adds_per_second}}
               .dump(2)
        << "\n";
    if (!out.flush()) throw Error("cannot write " + path.string());
}

}  // namespace

parallel::DeviceTable speeds_of(const MeasuredDevices& devices, bool fresh, const Say& say) {
    const bool keep = !devices.folder.empty();
    const fs::path path = keep ? path_of(devices, "speeds") : fs::path();
    if (keep && !fresh)
        if (auto known = read_speeds(path, devices.names.size())) return *known;
    parallel::DeviceTable table = measure_table(devices.names, devices.how, say);
    if (keep) replace(path, [&](const fs::path& to) { write_device_table(to, table); });
    return table;
}

kernels::Limits limits_of(const MeasuredDevices& devices, bool fresh, const Say& say) {
    const bool keep = !devices.folder.empty();
    const fs::path path = keep ? path_of(devices, "limits") : fs::path();
    if (keep && !fresh)
        if (auto known = read_limits(path)) return *known;
    if (say) say("what the hardware allows");
    const kernels::Limits limits = measure_limits(devices.names, devices.how);
    if (keep) replace(path, [&](const fs::path& to) { write_limits(to, limits); });
    return limits;
}

HighestLimits highest_limits_of(const MeasuredDevices& devices) {
    const kernels::Limits now = measure_limits(devices.names, devices.how);
    if (devices.folder.empty()) return {now, now};
    kernels::Limits limits = now;
    const fs::path path = path_of(devices, "limits");
    if (const auto known = read_limits(path)) {
        auto raise = [](double& value, double other) { value = std::max(value, other); };
        raise(limits.bytes_per_second, known->bytes_per_second);
        raise(limits.multiply_adds_per_second, known->multiply_adds_per_second);
        raise(limits.float_multiply_adds_per_second, known->float_multiply_adds_per_second);
    }
    replace(path, [&](const fs::path& to) { write_limits(to, limits); });
    return {limits, now};
}

}  // namespace tandem::cli
