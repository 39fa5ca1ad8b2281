#include "kernels/devices.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "gguf/error.h"
#include "kernels/control_groups.h"
#include "kernels/cpu/device.h"
#include "kernels/host.h"
#include "kernels/nodes.h"
#include "kernels/reference/device.h"
#include "kernels/vulkan.h"

namespace tandem::kernels {

namespace {

int core_number(std::string_view text, const std::string& name) {
    int core = -1;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), core);
    if (error != std::errc() || end != text.data() + text.size() || core < 0)
        throw Error("device \"" + name + "\": cores are written cpu:0 or cpu:0-3");
    return core;
}

// Where a device of this host lives; no cores for a GPU.
struct Place {
    std::vector<int> cores;
    std::optional<MemoryNode> node;  // of one made of a node
};

std::string node_name(const MemoryNode& node) { return "cpu:node" + std::to_string(node.number); }

// "cpu:node1"
Place place_of_node(const std::string& name, std::string_view number) {
    const std::vector<MemoryNode> nodes = memory_nodes(usable_cores());
    std::string known;
    for (const MemoryNode& node : nodes) {
        if (number == std::to_string(node.number)) return {node.cores, node};
        known += (known.empty() ? "" : ", ") + node_name(node);
    }
    throw Error("device \"" + name + "\" does not exist; " +
                (known.empty() ? "this system tells of no memory nodes" : "there are " + known));
}

// "cpu", "cpu:2", "cpu:0-3" or "cpu:node1".
Place place_of(const std::string& name) {
    std::vector<int> usable = usable_cores();
    if (name == "cpu") return {usable, {}};
    std::string_view range = std::string_view(name).substr(4);
    if (range.starts_with("node")) return place_of_node(name, range.substr(4));
    size_t dash = range.find('-');
    int first = core_number(range.substr(0, dash), name);
    int last = dash == std::string_view::npos ? first : core_number(range.substr(dash + 1), name);
    std::vector<int> cores;
    for (int core = first; core <= last && core - first < 4096; ++core) {
        if (std::find(usable.begin(), usable.end(), core) == usable.end())
            throw Error("device \"" + name + "\": core " + std::to_string(core) +
                        " is not among the cores of this process: " + cores_text(usable));
        cores.push_back(core);
    }
    if (cores.empty()) throw Error("device \"" + name + "\" has no cores");
    return {cores, {}};
}

std::string lower(std::string text) {
    for (char& c : text) c = char(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

bool is_cpu(const std::string& name) { return name == "cpu" || name.starts_with("cpu:"); }

// N of "vulkanN".
std::optional<int> vulkan_number(std::string_view name) {
    constexpr std::string_view kind = "vulkan";
    if (!name.starts_with(kind)) return {};
    int number = -1;
    auto [end, error] =
        std::from_chars(name.data() + kind.size(), name.data() + name.size(), number);
    if (error != std::errc() || end != name.data() + name.size() || number < 0) return {};
    return number;
}

// Throws Error where there is no such device.
Place place_for(const std::string& name, int threads) {
    if (vulkan_number(name)) return {};
    if (name == "reference") return {usable_cores(), {}};
    if (!is_cpu(name))
        throw Error("device \"" + name +
                    "\" does not exist; there are cpu, cpu:N, cpu:N-M, cpu:nodeN, vulkanN and "
                    "reference");
    Place place = place_of(name);
    if (threads > 0 && size_t(threads) < place.cores.size()) place.cores.resize(size_t(threads));
    return place;
}

// True if device `i` runs on a core of another.
bool shares(const std::vector<Place>& places, size_t i) {
    const std::vector<int>& own = places[i].cores;
    for (size_t j = 0; j < places.size(); ++j)
        for (int core : places[j].cores)
            if (i != j && std::find(own.begin(), own.end(), core) != own.end()) return true;
    return false;
}

// A share of what is free in the host, and at most of what is free near the device's cores.
int64_t free_bytes(const std::vector<Place>& places, size_t i, int64_t share) {
    const std::optional<MemoryNode>& node = places[i].node;
    if (!node) return share;
    const auto sharers = std::count_if(places.begin(), places.end(), [&](const Place& place) {
        return place.node && place.node->number == node->number;
    });
    return std::min(share, left_of(node->free_bytes) / sharers);
}

}  // namespace

bool is_node_name(const std::string& name) { return lower(name).starts_with("cpu:node"); }

bool is_cpu_name(const std::string& name) { return is_cpu(lower(name)); }

bool is_same_device(const std::string& name, const std::string& other) {
    return lower(name) == lower(other);
}

std::vector<std::string> cpu_devices(std::span<const MemoryNode> nodes) {
    if (nodes.size() < 2) return {"cpu"};
    std::vector<std::string> names;
    for (const MemoryNode& node : nodes) names.push_back(node_name(node));
    return names;
}

std::vector<std::string> cpu_devices() { return cpu_devices(memory_nodes(usable_cores())); }

std::vector<std::string> usual_devices(std::span<const VulkanAdapter> adapters,
                                       std::span<const MemoryNode> nodes) {
    std::vector<std::string> beside, others;
    for (size_t i = 0; i < adapters.size(); ++i) {
        const VulkanAdapter& adapter = adapters[i];
        if (adapter.software || adapter.twin || !adapter.missing.empty()) continue;
        (adapter.integrated ? beside : others).push_back("vulkan" + std::to_string(i));
    }
    if (!others.empty()) return others;
    return beside.empty() ? cpu_devices(nodes) : beside;
}

std::vector<std::string> usual_devices() {
    const std::vector<MemoryNode> nodes = memory_nodes(usable_cores());
    return has_gpu() ? usual_devices(vulkan_adapters().list, nodes) : usual_devices({}, nodes);
}

int usual_threads(int64_t cores, int64_t all, std::optional<int64_t> quota) {
    if (!quota || *quota >= all) return int(cores);
    return int(std::max<int64_t>(1, *quota * cores / all));
}

std::vector<std::unique_ptr<Device>> make_devices(const std::vector<std::string>& as_written,
                                                  const DeviceOptions& how) {
    std::vector<std::string> names;
    for (const std::string& name : as_written) names.push_back(lower(name));
    std::vector<Place> places;
    for (const std::string& name : names) places.push_back(place_for(name, how.threads));
    std::optional<int64_t> quota;
    if (how.threads <= 0) quota = how.quota ? how.quota : cores_in_groups();
    int64_t all_cores = 0;
    for (size_t i = 0; i < names.size(); ++i)
        if (is_cpu(names[i])) all_cores += int64_t(places[i].cores.size());
    std::vector<std::unique_ptr<Device>> devices(names.size());
    const int64_t free = left_of(how.free.value_or(free_memory()));
    const auto others = std::count_if(names.begin(), names.end(),
                                      [](const auto& name) { return !vulkan_number(name); });
    auto in_host_memory = int64_t(others);
    // First, because only they know where they live.
    for (size_t i = 0; i < names.size(); ++i) {
        const std::optional<int> number = vulkan_number(names[i]);
        if (!number) continue;
        const auto sharers = std::count_if(names.begin(), names.end(), [&](const auto& name) {
            return vulkan_number(name) == number;
        });
        devices[i] = make_vulkan_device({.name = as_written[i],
                                         .adapter = *number,
                                         .sharers = int(sharers),
                                         .host_devices = int(others),
                                         .host_bytes = free / (others + sharers),
                                         .products = how.products});
        const Description& made = devices[i]->description();
        in_host_memory += made.in_host_memory;
        if (made.shares_cores) places[i].cores = usable_cores();
    }
    for (size_t i = 0; i < names.size(); ++i) {
        if (devices[i]) continue;
        const bool shared = shares(places, i);
        const int64_t share = free / in_host_memory;
        if (is_cpu(names[i]))
            devices[i] = std::make_unique<CpuDevice>(CpuDevice::Options{
                .name = as_written[i],
                .cores = places[i].cores,
                .threads = usual_threads(int64_t(places[i].cores.size()), all_cores, quota),
                .shares_cores = shared,
                .total_bytes = places[i].node ? places[i].node->total_bytes : total_memory(),
                .free_bytes = free_bytes(places, i, share),
                .memory = places[i].node ? memory_of_node(places[i].node->number) : host_memory,
                .variant = how.variant});
        else
            devices[i] = std::make_unique<ReferenceDevice>(as_written[i], share, shared);
    }
    return devices;
}

}  // namespace tandem::kernels
