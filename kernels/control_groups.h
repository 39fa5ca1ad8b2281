// Control groups of Linux, by which containers are kept from memory and time that the machine has.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace tandem::kernels {

// What the groups of this process leave of the memory they may take; nothing where none has a
// limit. `own` says which they are, `root` is the folder of all.
std::optional<int64_t> memory_left_in_groups(const std::filesystem::path& own = "/proc/self/cgroup",
                                             const std::filesystem::path& root = "/sys/fs/cgroup");

// As many cores as they may keep busy all the time, at least one. Threads that want more are
// stopped for a while, all at once.
std::optional<int64_t> cores_in_groups(const std::filesystem::path& own = "/proc/self/cgroup",
                                       const std::filesystem::path& root = "/sys/fs/cgroup");

}  // namespace tandem::kernels
