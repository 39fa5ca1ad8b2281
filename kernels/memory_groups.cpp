#include "kernels/memory_groups.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>

namespace tandem::kernels {

namespace fs = std::filesystem;

namespace {

// The files of a group, in the two versions of the system's interface.
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

std::optional<int64_t> left_in(const fs::path& group, const Files& files) {
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

}  // namespace

// Lines such as "4:memory:/containers/7", or "0::/containers/7" in the second version. A group
// takes part in the limits of those above it. A container may see its own as the topmost.
std::optional<int64_t> left_in_groups(const fs::path& own, const fs::path& root) {
    std::optional<int64_t> least;
    std::ifstream in(own);
    for (std::string line; std::getline(in, line);) {
        const size_t controllers = line.find(':') + 1, path = line.find(':', controllers) + 1;
        if (controllers == 0 || path == 0) continue;
        const bool second = path == controllers + 1;
        if (!second && line.substr(controllers, path - 1 - controllers) != "memory") continue;
        const fs::path top = second ? root : root / "memory";
        for (fs::path group = fs::path(line.substr(path)).relative_path();;
             group = group.parent_path()) {
            const auto left = left_in(top / group, second ? second_version : first_version);
            if (left) least = std::min(*left, least.value_or(*left));
            if (group.empty()) break;
        }
    }
    return least;
}

}  // namespace tandem::kernels
