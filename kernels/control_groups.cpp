#include "kernels/control_groups.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>

namespace tandem::kernels {

namespace fs = std::filesystem;

namespace {

// The files of a group's memory, in the two versions of the system's interface.
struct Files {
    std::string_view limits[2];  // beyond one of them a group is slowed down rather than ended
    std::string_view taken;
    std::string_view cached[2];  // lines of memory.stat: what files keep makes room when needed
};
constexpr Files first_version{{"memory.limit_in_bytes", "memory.limit_in_bytes"},
                              "memory.usage_in_bytes",
                              {"total_inactive_file", "total_active_file"}};
constexpr Files second_version{
    {"memory.max", "memory.high"}, "memory.current", {"inactive_file", "active_file"}};

// Nothing where there is no such file, or no limit: "max".
std::optional<int64_t> number_in(const fs::path& path) {
    std::ifstream in(path);
    int64_t number = 0;
    return in >> number ? std::optional(number) : std::nullopt;
}

std::optional<int64_t> memory_left_in(const fs::path& group, bool second) {
    const Files& files = second ? second_version : first_version;
    std::optional<int64_t> limit;
    for (std::string_view name : files.limits)
        if (const auto found = number_in(group / name))
            limit = std::min(*found, limit.value_or(*found));
    std::optional<int64_t> taken = number_in(group / files.taken);
    if (!limit || !taken) return {};
    std::ifstream in(group / "memory.stat");
    std::string name;
    for (int64_t bytes = 0; in >> name >> bytes;)
        if (name == files.cached[0] || name == files.cached[1]) *taken -= bytes;
    // These counts are not taken at one moment: more may be cached than was taken.
    return std::max<int64_t>(*limit - std::max<int64_t>(*taken, 0), 0);
}

// Microseconds in every period; no limit is "max", or -1 in the first version.
std::optional<int64_t> cores_in(const fs::path& group, bool second) {
    int64_t quota = -1, period = 0;
    if (second) {
        std::ifstream in(group / "cpu.max");
        if (!(in >> quota >> period)) return {};
    } else {
        quota = number_in(group / "cpu.cfs_quota_us").value_or(-1);
        period = number_in(group / "cpu.cfs_period_us").value_or(0);
    }
    if (quota < 0 || period <= 0) return {};
    return std::max<int64_t>(1, quota / period);
}

// The least of what is found in the groups of a controller, of which each takes part in the limits
// of those above it. Lines such as "4:memory:/containers/7" or "2:cpu,cpuacct:/containers/7", or
// "0::/containers/7" in the second version. A container may see its own as the topmost.
std::optional<int64_t> least_of(
    const std::string& controller, const fs::path& own, const fs::path& root,
    const std::function<std::optional<int64_t>(const fs::path& group, bool second)>& find) {
    std::optional<int64_t> least;
    std::ifstream in(own);
    for (std::string line; std::getline(in, line);) {
        const size_t controllers = line.find(':') + 1, path = line.find(':', controllers) + 1;
        if (controllers == 0 || path == 0) continue;
        const bool second = path == controllers + 1;
        const std::string list = "," + line.substr(controllers, path - 1 - controllers) + ",";
        if (!second && list.find("," + controller + ",") == std::string::npos) continue;
        const fs::path top = second ? root : root / controller;
        for (fs::path group = fs::path(line.substr(path)).relative_path();;
             group = group.parent_path()) {
            const auto found = find(top / group, second);
            if (found) least = std::min(*found, least.value_or(*found));
            if (group.empty()) break;
        }
    }
    return least;
}

}  // namespace

std::optional<int64_t> memory_left_in_groups(const fs::path& own, const fs::path& root) {
    return least_of("memory", own, root, memory_left_in);
}

std::optional<int64_t> cores_in_groups(const fs::path& own, const fs::path& root) {
    return least_of("cpu", own, root, cores_in);
}

}  // namespace tandem::kernels
