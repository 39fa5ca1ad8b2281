#include "cli/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "parallel/plan_print.h"

namespace tandem::cli {

namespace {

// Before it something may be over without a word.
constexpr auto moment = std::chrono::milliseconds(500);

// Of the terminal.
size_t columns() {
    winsize size{};
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string amount(int64_t count, Unit unit) {
    return unit == Unit::Bytes ? parallel::in_bytes(double(count))
                               : std::to_string(count) + " tokens";
}

}  // namespace

Progress::Progress(std::string title, Unit unit)
    : title_(std::move(title)),
      unit_(unit),
      terminal_(isatty(STDERR_FILENO) == 1),
      start_(std::chrono::steady_clock::now()) {}

Progress::~Progress() {
    if (shown_) std::cerr << "\r\033[K" << std::flush;
}

void Progress::show(int64_t done, int64_t total) {
    if (!terminal_ || total <= 0 || std::chrono::steady_clock::now() - start_ < moment) return;
    std::cerr << "\r" << progress_line(title_, done, total, columns(), unit_) << "\033[K"
              << std::flush;
    shown_ = true;
}

std::string progress_line(std::string_view title, int64_t done, int64_t total, size_t columns,
                          Unit unit) {
    constexpr int64_t width = 30;
    const int64_t filled = std::clamp<int64_t>(done * width / total, 0, width);
    const std::string name = std::string(title) + " ";
    const std::string bar =
        "[" + std::string(size_t(filled), '#') + std::string(size_t(width - filled), ' ') + "] ";
    const std::string share = std::to_string(done * 100 / total) + " % of " + amount(total, unit);
    if (name.size() + bar.size() + share.size() < columns) return name + bar + share;
    return name.size() + share.size() < columns ? name + share : share;
}

}  // namespace tandem::cli
