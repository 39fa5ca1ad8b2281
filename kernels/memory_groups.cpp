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
    std::string_view limit, taken;
    std::string_view cached[2];  // lines of memory.stat: what files keep makes room when needed
};
constexpr Files first_version{
    "memory.limit_in_bytes", "memory.usage_in_bytes", {"total_inactive_file", "total_active_file"}};
constexpr Files second_version{"memory.max", "memory.current", {"inactive_file", "active_file"}};

// Nothing where there is no such file, or no limit: "max".
std::optional<int64_t> number_in(const fs::path& path) {
    std::ifstream in(path);
    int64_t number = 0;
    return in >> number ? std::optional(number) : std::nullopt;
}

std::optional<int64_t> left_in(const fs::path& group, const Files& files) {
    const std::optional<int64_t> limit = number_in(group / files.limit);
    const std::optional<int64_t> taken = number_in(group / files.taken);
    if (!limit || !taken) return {};
    int64_t left = *limit - *taken;
    std::ifstream in(group / "memory.stat");
    std::string name;
    for (int64_t bytes = 0; in >> name >> bytes;)
        if (name == files.cached[0] || name == files.cached[1]) left += bytes;
    return std::clamp<int64_t>(left, 0, *limit);
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
