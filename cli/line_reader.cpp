#include "cli/line_reader.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "gguf/error.h"

namespace tandem::cli {

std::optional<std::string> LineReader::next(const Interrupts& interrupts) {
    size_t looked_at = 0;
    while (true) {
        const size_t end = read_.find('\n', looked_at);
        if (end != read_.npos || (ended_ && !read_.empty())) {
            std::string line = read_.substr(0, end);
            read_.erase(0, end == read_.npos ? end : end + 1);
            if (line.ends_with('\r')) line.pop_back();
            return line;
        }
        if (ended_) return {};
        looked_at = read_.size();
        pollfd input{.fd = STDIN_FILENO, .events = POLLIN};
        const int ready = poll(&input, 1, 50);
        interrupts.check();
        if (ready <= 0) continue;
        char block[4096];
        const ssize_t count = read(STDIN_FILENO, block, sizeof block);
        if (count > 0) read_.append(block, size_t(count));
        if (count == 0) ended_ = true;
        if (count < 0 && errno != EINTR && errno != EAGAIN)
            throw Error(std::string("cannot read standard input: ") + std::strerror(errno));
    }
}

}  // namespace tandem::cli
