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

// Throws Error where there is no such device.
std::vector<int> cores_for(const std::string& name, int threads) {
    if (vulkan_number(name)) return {};
    if (name == "reference") return usable_cores();
    if (!is_cpu(name))
        throw Error("device \"" + name +
                    "\" does not exist; there are cpu, cpu:N, cpu:N-M, vulkanN and reference");
    std::vector<int> cores = cores_of(name);
    if (threads > 0 && size_t(threads) < cores.size()) cores.resize(size_t(threads));
    return cores;
}

// True if device `i` runs on a core of another.
bool shares(const std::vector<std::vector<int>>& cores, size_t i) {
    for (size_t j = 0; j < cores.size(); ++j)
        for (int core : cores[j])
            if (i != j && std::find(cores[i].begin(), cores[i].end(), core) != cores[i].end())
                return true;
    return false;
}

}  // namespace

std::vector<std::string> usual_devices(std::span<const VulkanAdapter> adapters) {
    std::vector<std::string> beside, others;
    for (size_t i = 0; i < adapters.size(); ++i) {
        const VulkanAdapter& adapter = adapters[i];
        if (adapter.software || adapter.twin || !adapter.missing.empty()) continue;
        (adapter.integrated ? beside : others).push_back("vulkan" + std::to_string(i));
    }
    if (!others.empty()) return others;
    return beside.empty() ? std::vector<std::string>{"cpu"} : beside;
}

std::vector<std::string> usual_devices() {
    return has_gpu() ? usual_devices(vulkan_adapters().list) : usual_devices({});
}

std::vector<std::unique_ptr<Device>> make_devices(const std::vector<std::string>& names,
                                                  int threads) {
    std::vector<std::vector<int>> cores;  // that each one runs on; none for a GPU
    for (const std::string& name : names) cores.push_back(cores_for(name, threads));
    std::vector<std::unique_ptr<Device>> devices(names.size());
    const int64_t free = free_memory();
    auto in_host_memory = int64_t(std::count_if(
        names.begin(), names.end(), [](const auto& name) { return !vulkan_number(name); }));
    // First, because only they know where they live.
    for (size_t i = 0; i < names.size(); ++i) {
        const std::optional<int> number = vulkan_number(names[i]);
        if (!number) continue;
        const auto sharers = std::count_if(names.begin(), names.end(), [&](const auto& name) {
            return vulkan_number(name) == number;
        });
        devices[i] = make_vulkan_device({.name = names[i],
                                         .adapter = *number,
                                         .sharers = int(sharers),
                                         .host_bytes = free / (in_host_memory + sharers)});
        if (devices[i]->description().in_host_memory) cores[i] = usable_cores();
    }
    in_host_memory = int64_t(
        std::count_if(cores.begin(), cores.end(), [](const auto& some) { return !some.empty(); }));
    for (size_t i = 0; i < names.size(); ++i) {
        if (devices[i]) continue;
        const bool shared = shares(cores, i);
        const int64_t share = free / in_host_memory;
        if (is_cpu(names[i]))
            devices[i] = std::make_unique<CpuDevice>(CpuDevice::Options{
                .name = names[i], .cores = cores[i], .shares_cores = shared, .free_bytes = share});
        else
            devices[i] = std::make_unique<ReferenceDevice>(names[i], share, shared);
    }
    return devices;
}

}  // namespace tandem::kernels
