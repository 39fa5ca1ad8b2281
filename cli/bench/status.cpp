#include "cli/bench/status.h"

#include <unistd.h>

#include <iostream>

namespace tandem::cli {

Status::Status(bool lines) : lines_(lines), terminal_(isatty(STDERR_FILENO) == 1) {}

void Status::show(const std::string& what) {
    if (lines_) {
        std::cerr << "bench: " << prefix_ << what << "\n" << std::flush;
    } else if (terminal_) {
        std::cerr << "\r" << prefix_ << what << "\033[K" << std::flush;
        shown_ = true;
    }
}

void Status::clear() {
    if (shown_) std::cerr << "\r\033[K" << std::flush;
    shown_ = false;
}

}  // namespace tandem::cli
