#include "cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "parallel/plan_print.h"

namespace tandem::cli {

Progress::Progress(std::string title)
    : title_(std::move(title)), terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
    if (shown_) std::cerr << "\r\033[K" << std::flush;
}

void Progress::show(int64_t done, int64_t total) {
    if (!terminal_ || total <= 0) return;
    constexpr int64_t width = 30;
    const int64_t filled = std::clamp<int64_t>(done * width / total, 0, width);
    std::cerr << "\r" << title_ << " [" << std::string(size_t(filled), '#')
              << std::string(size_t(width - filled), ' ') << "] " << done * 100 / total << " % of "
              << parallel::in_bytes(double(total)) << "\033[K" << std::flush;
    shown_ = true;
}

}  // namespace tandem::cli
