// Memory nodes of machines that are made up, by what their systems would tell.
#include "kernels/nodes.h"

#include <gtest/gtest.h>

#include <fstream>

#include "gguf/folder.h"
#include "kernels/devices.h"

namespace tandem::kernels {
namespace {

using Cores = std::vector<int>;

// A machine's folder of nodes.
class Machine {
  public:
    void add(const std::string& node, const std::string& cores, int64_t kilobytes = 0) {
        std::filesystem::create_directories(folder_ / node);
        std::ofstream(folder_ / (node + "/cpulist")) << cores << "\n";
        const std::string of = "Node 7 ", end = std::to_string(kilobytes) + " kB\n";
        std::ofstream(folder_ / (node + "/meminfo"))
            << of << "MemTotal:       4" << end << of << "MemFree:        1" << end << of
            << "HugePages_Total:     0\n"
            << of << "Inactive(file): 2" << end;
    }
    std::vector<MemoryNode> nodes(const Cores& usable) const {
        return memory_nodes(usable, folder_ / ".");
    }

  private:
    test::Folder folder_;
};

TEST(Nodes, have_cores_and_memory) {
    Machine machine;
    machine.add("node0", "0-3,8-11", 500);
    machine.add("node1", "4-7,12-15", 0);
    machine.add("node10", "16");
    machine.add("node2", "");  // memory alone
    machine.add("nodes", "0-15");
    const auto nodes = machine.nodes(to_cores("0-16"));
    ASSERT_EQ(nodes.size(), 3u);
    EXPECT_EQ(nodes[0].cores, (Cores{0, 1, 2, 3, 8, 9, 10, 11}));
    EXPECT_EQ(nodes[0].total_bytes, 4500 * 1024);
    EXPECT_EQ(nodes[0].free_bytes, (1500 + 2500) * 1024);
    EXPECT_EQ(nodes[1].number, 1);
    EXPECT_EQ(nodes[2].number, 10);
    EXPECT_EQ(nodes[2].cores, Cores{16});
}

// Offline, or kept from this process.
TEST(Nodes, leave_out_cores_that_cannot_be_used) {
    Machine machine;
    machine.add("node0", "0-3");
    machine.add("node1", "4-7");
    EXPECT_EQ(machine.nodes({1, 2, 5}).at(1).cores, Cores{5});
    EXPECT_EQ(machine.nodes({1, 2}).size(), 1u);
    EXPECT_TRUE(Machine().nodes({}).empty());
    EXPECT_TRUE(memory_nodes(Cores{0}, "/nowhere/at/all").empty());
}

TEST(Nodes, are_one_device_each) {
    const MemoryNode first{.number = 0}, second{.number = 3};
    using Names = std::vector<std::string>;
    EXPECT_EQ(cpu_devices({}), Names{"cpu"});
    EXPECT_EQ(cpu_devices({{first}}), Names{"cpu"});
    EXPECT_EQ(cpu_devices({{first, second}}), (Names{"cpu:node0", "cpu:node3"}));
}

TEST(Cores, are_written_as_ranges) {
    EXPECT_EQ(to_cores("0-2,5,7-8"), (Cores{0, 1, 2, 5, 7, 8}));
    for (const char* text : {"", "x", "1-", "-1", "0-99999999", "1;2"})
        EXPECT_TRUE(to_cores(text).empty()) << text;
    EXPECT_EQ(cores_text(Cores{0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
    EXPECT_EQ(cores_text(Cores{}), "");
}

}  // namespace
}  // namespace tandem::kernels
