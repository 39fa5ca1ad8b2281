#include "kernels/devices.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "gguf/error.h"
#include "kernels/cpu/device.h"
#include "kernels/host.h"
#include "kernels/reference/device.h"
#include "kernels/vulkan.h"

namespace tandem::kernels {

namespace {

std::string list(const std::vector<int>& cores) {
    std::string text;
    for (int core : cores) text += (text.empty() ? "" : ", ") + std::to_string(core);
    return text;
}

int core_number(std::string_view text, const std::string& name) {
    int core = -1;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), core);
    if (error != std::errc() || end != text.data() + text.size() || core < 0)
        throw Error("device \"" + name + "\": cores are written cpu:0 or cpu:0-3");
    return core;
}

// The cores of "cpu", "cpu:2" or "cpu:0-3".
std::vector<int> cores_of(const std::string& name) {
    std::vector<int> usable = usable_cores();
    if (name == "cpu") return usable;
    std::string_view range = std::string_view(name).substr(4);
    size_t dash = range.find('-');
    int first = core_number(range.substr(0, dash), name);
    int last = dash == std::string_view::npos ? first : core_number(range.substr(dash + 1), name);
    std::vector<int> cores;
    for (int core = first; core <= last && core - first < 4096; ++core) {
        if (std::find(usable.begin(), usable.end(), core) == usable.end())
            throw Error("device \"" + name + "\": core " + std::to_string(core) +
                        " is not among the cores of this process: " + list(usable));
        cores.push_back(core);
    }
    if (cores.empty()) throw Error("device \"" + name + "\" has no cores");
    return cores;
}

bool is_cpu(const std::string& name) { return name == "cpu" || name.starts_with("cpu:"); }

// N of "vulkanN".
std::optional<int> vulkan_number(std::string_view name) {
    constexpr std::string_view kind = "vulkan";
    if (name.size() <= kind.size() ||
        !std::equal(kind.begin(), kind.end(), name.begin(), [](char a, char b) {
            return a == std::tolower(static_cast<unsigned char>(b));
        }))
        return {};
    int number = -1;
    auto [end, error] =
        std::from_chars(name.data() + kind.size(), name.data() + name.size(), number);
    if (error != std::errc() || end != name.data() + name.size() || number < 0) return {};
    return number;
}

}  // namespace

std::vector<std::string> usual_devices() {
    std::vector<std::string> names;
    const VulkanAdapters adapters = vulkan_adapters();
    for (size_t i = 0; i < adapters.list.size(); ++i)
        if (!adapters.list[i].software && adapters.list[i].missing.empty())
            names.push_back("vulkan" + std::to_string(i));
    if (names.empty()) names.emplace_back("cpu");
    return names;
}

std::vector<std::unique_ptr<Device>> make_devices(const std::vector<std::string>& names,
                                                  int threads) {
    std::vector<std::vector<int>> cores;  // that each one runs on; none for a GPU
    for (const std::string& name : names) {
        if (vulkan_number(name)) {
            cores.emplace_back();
            continue;
        }
        if (!is_cpu(name) && name != "reference")
            throw Error("device \"" + name +
                        "\" does not exist; there are cpu, cpu:N, cpu:N-M, vulkanN and reference");
        cores.push_back(is_cpu(name) ? cores_of(name) : usable_cores());
        if (is_cpu(name) && threads > 0 && size_t(threads) < cores.back().size())
            cores.back().resize(size_t(threads));
    }
    auto shares = [&](size_t i) {
        for (size_t j = 0; j < cores.size(); ++j)
            for (int core : cores[j])
                if (i != j && std::find(cores[i].begin(), cores[i].end(), core) != cores[i].end())
                    return true;
        return false;
    };
    auto sharers = [&](int adapter) {
        return int(std::count_if(names.begin(), names.end(), [&](const std::string& name) {
            return vulkan_number(name) == adapter;
        }));
    };
    std::vector<std::unique_ptr<Device>> devices;
    int64_t free_share = free_memory() / int64_t(std::max<size_t>(1, names.size()));
    for (size_t i = 0; i < names.size(); ++i) {
        if (std::optional<int> number = vulkan_number(names[i]))
            devices.push_back(make_vulkan_device(
                {.name = names[i], .adapter = *number, .sharers = sharers(*number)}));
        else if (is_cpu(names[i]))
            devices.push_back(
                std::make_unique<CpuDevice>(CpuDevice::Options{.name = names[i],
                                                               .cores = cores[i],
                                                               .shares_cores = shares(i),
                                                               .free_bytes = free_share}));
        else
            devices.push_back(std::make_unique<ReferenceDevice>(names[i], free_share, shares(i)));
    }
    return devices;
}

}  // namespace tandem::kernels
