#include "kernels/nodes.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>

namespace tandem::kernels {

namespace fs = std::filesystem;

namespace {

// Far more than there are, so that no text fills the memory.
constexpr int most_cores = 1 << 16;

// A number that is all of the text.
std::optional<int> to_number(std::string_view text) {
    int number = -1;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 0) return {};
    return number;
}

// Lines such as "Node 0 MemFree:  1024 kB". What files keep in memory makes room when it is needed.
void read_memory(const fs::path& path, MemoryNode& node) {
    std::ifstream in(path);
    std::string word, number, key, unit;
    for (int64_t kilobytes = 0; in >> word >> number >> key >> kilobytes;) {
        if (key == "MemTotal:") node.total_bytes = kilobytes * 1024;
        if (key == "MemFree:" || key == "Active(file):" || key == "Inactive(file):")
            node.free_bytes += kilobytes * 1024;
        std::getline(in, unit);
    }
}

}  // namespace

std::vector<int> to_cores(std::string_view text) {
    std::vector<int> cores;
    while (!text.empty()) {
        const std::string_view range = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), range.size() + 1));
        const size_t dash = range.find('-');
        const auto first = to_number(range.substr(0, dash));
        const auto last =
            dash == std::string_view::npos ? first : to_number(range.substr(dash + 1));
        if (!first || !last || *last >= most_cores) return {};
        for (int core = *first; core <= *last; ++core) cores.push_back(core);
    }
    return cores;
}

std::string cores_text(std::span<const int> cores) {
    std::string text;
    for (size_t i = 0; i < cores.size();) {
        size_t end = i + 1;
        while (end < cores.size() && cores[end] == cores[end - 1] + 1) ++end;
        text += (text.empty() ? "" : ",") + std::to_string(cores[i]);
        if (end > i + 1) text += "-" + std::to_string(cores[end - 1]);
        i = end;
    }
    return text;
}

std::vector<MemoryNode> memory_nodes(std::span<const int> usable, const fs::path& root) {
    constexpr std::string_view prefix = "node";
    std::vector<MemoryNode> nodes;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(root, ignored)) {
        const std::string name = entry.path().filename();
        if (!name.starts_with(prefix)) continue;
        const std::optional<int> number = to_number(std::string_view(name).substr(prefix.size()));
        if (!number) continue;
        MemoryNode node{.number = *number};
        std::string list;
        std::ifstream(entry.path() / "cpulist") >> list;
        for (int core : to_cores(list))
            if (std::find(usable.begin(), usable.end(), core) != usable.end())
                node.cores.push_back(core);
        if (node.cores.empty()) continue;
        read_memory(entry.path() / "meminfo", node);
        nodes.push_back(std::move(node));
    }
    std::sort(nodes.begin(), nodes.end(),
              [](const MemoryNode& a, const MemoryNode& b) { return a.number < b.number; });
    return nodes;
}

}  // namespace tandem::kernels
