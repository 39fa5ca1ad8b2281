// Memory nodes (NUMA): cores of a machine, and the memory that is near to them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::kernels {

struct MemoryNode {
    int number = 0;
    std::vector<int> cores;  // that may be used, ascending
    int64_t total_bytes = 0, free_bytes = 0;
};

// The nodes that have some of the usable cores, by number; none where the system tells of none.
// `root` is the folder in which it does.
std::vector<MemoryNode> memory_nodes(
    std::span<const int> usable, const std::filesystem::path& root = "/sys/devices/system/node");

// Numbers as systems write them, "0-3,8-11", and back; none of a text that is something else.
std::vector<int> to_cores(std::string_view text);
std::string cores_text(std::span<const int> cores);  // ascending

}  // namespace tandem::kernels
