// Measurements on devices with little memory.
#include "kernels/measured_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "kernels/cpu/device.h"
#include "kernels/host.h"

namespace tandem::kernels {
namespace {

constexpr int64_t mib = int64_t(1) << 20;

TEST(MeasuredMemory, is_a_quarter_of_what_is_free_at_most) {
    EXPECT_EQ(measured_bytes(512 * mib, 65536 * mib), 512 * mib);
    EXPECT_EQ(measured_bytes(512 * mib, 2048 * mib), 512 * mib);
    EXPECT_EQ(measured_bytes(512 * mib, 1024 * mib), 256 * mib);
    EXPECT_EQ(measured_bytes(512 * mib, 300 * mib + 77), 64 * mib);
    EXPECT_EQ(measured_bytes(512 * mib, 0), 16 * mib);
    EXPECT_EQ(measured_bytes(8 * mib, 0), 8 * mib);
}

// Of a process that may have so much more than it has.
void limit_memory(int64_t more) {
    int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t limit = rlim_t(pages * sysconf(_SC_PAGESIZE) + more);
    const rlimit both{limit, limit};
    setrlimit(RLIMIT_AS, &both);
}

TEST(MeasuredMemoryDeathTest, is_there_on_a_cpu_with_little) {
    const auto measure = [] {
        CpuDevice device(
            {.name = "cpu:0", .cores = {usable_cores().front()}, .free_bytes = 256 * mib});
        limit_memory(256 * mib);
        const Limits limits = device.measure_limits();
        std::exit(limits.bytes_per_second > 1e6 ? 0 : 1);
    };
    EXPECT_EXIT(measure(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tandem::kernels
