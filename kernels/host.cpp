#include "kernels/host.h"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "kernels/control_groups.h"

namespace tandem::kernels {

namespace {

// A line of /proc/meminfo, in bytes; -1 where there is none.
int64_t memory_line(const std::string& name) {
    std::ifstream in("/proc/meminfo");
    std::string key, unit;
    int64_t kilobytes = 0;
    while (in >> key >> kilobytes) {
        if (key == name + ":") return kilobytes * 1024;
        std::getline(in, unit);
    }
    return -1;
}

}  // namespace

int64_t total_memory() { return int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE); }

int64_t free_memory() {
    int64_t available = memory_line("MemAvailable");
    if (available < 0) available = int64_t(sysconf(_SC_AVPHYS_PAGES)) * sysconf(_SC_PAGESIZE);
    return std::min(available, memory_left_in_groups().value_or(available));
}

int64_t left_of(int64_t free) {
    constexpr int64_t most_reserved = int64_t(1) << 30;
    return free - std::min(free / 64, most_reserved);
}

std::vector<int> usable_cores() {
    std::vector<int> cores;
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        for (int core = 0; core < CPU_SETSIZE; ++core)
            if (CPU_ISSET(core, &set)) cores.push_back(core);
    if (cores.empty())
        for (unsigned core = 0; core < std::max(1u, std::thread::hardware_concurrency()); ++core)
            cores.push_back(int(core));
    return cores;
}

bool has_gpu() {
    namespace fs = std::filesystem;
    std::error_code ignored;
    // Drivers of the kernel's own kind, then those that come with devices of their own.
    for (const auto& entry : fs::directory_iterator("/dev/dri", ignored))
        if (entry.path().filename().string().starts_with("renderD")) return true;
    for (const char* path :
         {"/dev/nvidiactl", "/dev/nvhost-gpu", "/dev/dxg", "/dev/kgsl-3d0", "/dev/mali0"})
        if (fs::exists(path, ignored)) return true;
    return false;
}

void pin_to(std::span<const int> cores) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int core : cores) CPU_SET(core, &set);
    sched_setaffinity(0, sizeof set, &set);
}

void use_large_pages(std::byte* memory, int64_t bytes) {
    ::madvise(memory, size_t(bytes), MADV_HUGEPAGE);
}

void give_back(std::byte* memory, int64_t bytes) {
    ::madvise(memory, size_t(bytes), MADV_DONTNEED);
}

void spin_pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

}  // namespace tandem::kernels
