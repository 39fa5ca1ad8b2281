// What control groups leave of memory and time, by what their systems would tell.
#include "kernels/control_groups.h"

#include <gtest/gtest.h>

#include <fstream>

#include "gguf/folder.h"

namespace tandem::kernels {
namespace {

class Groups {
  public:
    explicit Groups(const std::string& own) { write("own", own); }
    void write(const std::string& name, const std::string& text) {
        const std::filesystem::path path = folder_ / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text << "\n";
    }
    // A group that has taken 300 bytes, of which 50 are of files.
    void add(const std::string& name, const std::string& limit) {
        write(name + "/memory.max", limit);
        write(name + "/memory.current", "300");
        write(name + "/memory.stat", "anon 250\ninactive_file 20\nactive_file 30\nfile 99");
    }
    std::optional<int64_t> left() const {
        return memory_left_in_groups(folder_ / "own", folder_ / ".");
    }
    std::optional<int64_t> cores() const { return cores_in_groups(folder_ / "own", folder_ / "."); }

  private:
    test::Folder folder_;
};

TEST(MemoryGroups, have_a_limit) {
    Groups groups("0::/containers/7");
    groups.add("containers/7", "1000");
    EXPECT_EQ(groups.left(), 750);
    groups.add("containers/7", "200");  // lowered to less than is taken
    EXPECT_EQ(groups.left(), 0);
    groups.add("containers/7", "max");
    EXPECT_FALSE(groups.left());
    groups.write("containers/7/memory.high", "900");
    EXPECT_EQ(groups.left(), 650);
}

TEST(MemoryGroups, share_the_limits_of_those_above_them) {
    Groups groups("0::/containers/7");
    groups.add("containers/7", "5000");
    groups.add("containers", "2000");
    EXPECT_EQ(groups.left(), 1750);
}

// Whose name is that outside of the container, or none.
TEST(MemoryGroups, may_be_the_topmost_that_is_seen) {
    for (const char* own : {"0::/docker/1f", "0::/", "0::/../.."}) {
        Groups groups(own);
        groups.add(".", "1000");
        EXPECT_EQ(groups.left(), 750);
    }
}

TEST(MemoryGroups, of_the_first_version) {
    Groups groups("9:cpu:/a\n4:memory:/b\n0::/");
    groups.write("memory/b/memory.limit_in_bytes", "1000");
    groups.write("memory/b/memory.usage_in_bytes", "300");
    groups.write("memory/b/memory.stat", "inactive_file 7\ntotal_inactive_file 50");
    groups.write("memory/memory.limit_in_bytes", "9223372036854771712");
    groups.write("memory/memory.usage_in_bytes", "400");
    // Counted a moment later than what is taken.
    groups.write("memory/memory.stat", "total_active_file 5000");
    EXPECT_EQ(groups.left(), 750);
}

TEST(MemoryGroups, may_not_be_there) {
    EXPECT_FALSE(Groups("").left());
    EXPECT_FALSE(Groups("words\n4:memory:/").left());
}

TEST(CpuGroups, have_a_quota) {
    Groups groups("0::/containers/7");
    EXPECT_FALSE(groups.cores());
    groups.write("containers/7/cpu.max", "max 100000");
    EXPECT_FALSE(groups.cores());
    groups.write("containers/7/cpu.max", "399999 100000");
    EXPECT_EQ(groups.cores(), 3);
    groups.write("containers/7/cpu.max", "1000 100000");  // still one thread
    EXPECT_EQ(groups.cores(), 1);
    groups.write("containers/7/cpu.max", "200000 0");
    EXPECT_FALSE(groups.cores());
}

TEST(CpuGroups, share_the_quotas_of_those_above_them) {
    Groups groups("0::/containers/7");
    groups.write("containers/7/cpu.max", "400000 50000");
    groups.write("containers/cpu.max", "500000 100000");
    groups.write("cpu.max", "600000 100000");
    EXPECT_EQ(groups.cores(), 5);
    groups.write("cpu.max", "200000 100000");
    EXPECT_EQ(groups.cores(), 2);
}

// Where one folder may be for several controllers, and has the name of each.
TEST(CpuGroups, of_the_first_version) {
    for (const char* own : {"5:cpu,cpuacct:/b", "5:cpuacct,cpu:/b", "5:cpu:/b\n6:cpuset:/"}) {
        Groups groups(own);
        groups.write("cpu/b/cpu.cfs_period_us", "100000");
        groups.write("cpu/b/cpu.cfs_quota_us", "-1");
        EXPECT_FALSE(groups.cores()) << own;
        groups.write("cpu/b/cpu.cfs_quota_us", "250000");
        EXPECT_EQ(groups.cores(), 2) << own;
    }
    Groups other("5:cpuset:/");
    other.write("cpu/cpu.cfs_period_us", "100000");
    other.write("cpu/cpu.cfs_quota_us", "100000");
    EXPECT_FALSE(other.cores());
}

}  // namespace
}  // namespace tandem::kernels
