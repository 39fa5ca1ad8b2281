#include "cli/prompt.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "gguf/error.h"

namespace tandem::cli {

namespace {

constexpr Option list[] = {
    {"-p, --prompt", "TEXT", "the text to begin with (default: standard input, if no terminal)"},
    {"-f, --file", "FILE", "a file with the text; one newline at its end is dropped"},
    {"-e, --escape", "",
     "replace \\n \\r \\t \\' \\\" \\\\ \\xHH in the text by what they stand for "
     "(default: on; off: --no-escape)"},
};

// "\x41" at the beginning of `text` as a byte.
bool read_hexadecimal(std::string_view text, char& byte) {
    if (text.size() < 4 || text[1] != 'x') return false;
    unsigned value = 0;
    auto [end, error] = std::from_chars(text.data() + 2, text.data() + 4, value, 16);
    byte = char(value);
    return error == std::errc() && end == text.data() + 4;
}

// A file that is open for reading; a pipe need not have a writer yet.
class Source {
  public:
    explicit Source(const std::string& path)
        : number_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
    ~Source() {
        if (number_ >= 0) close(number_);
    }
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;
    int number() const { return number_; }

  private:
    const int number_;
};

[[noreturn]] void fail(const std::string& what, const std::string& from) {
    throw Error("cannot read " + what + " from " + from + ": " + std::strerror(errno));
}

// All bytes to the end, which may have to be waited for.
std::string read_all(int descriptor, const std::string& what, const std::string& from,
                     const Interrupts* interrupts,
                     size_t most = std::numeric_limits<size_t>::max()) {
    std::string text;
    char block[1 << 16];
    while (true) {
        pollfd input{.fd = descriptor, .events = POLLIN};
        int ready = poll(&input, 1, 50);
        if (interrupts) interrupts->check();
        if (ready <= 0) continue;
        ssize_t count = read(descriptor, block, sizeof block);
        if (count == 0) return text;
        if (count > 0) text.append(block, size_t(count));
        if (text.size() > most)
            throw Error("cannot read " + what + " from " + from + ": it has more than " +
                        std::to_string(most >> 20) + " MiB");
        if (count < 0 && errno != EINTR && errno != EAGAIN) fail(what, from);
    }
}

std::string without_last_newline(std::string text) {
    if (text.ends_with('\n')) text.pop_back();
    return text;
}

}  // namespace

const OptionGroup prompt_options{"prompt", list};

std::string unescape(std::string_view text) {
    constexpr std::string_view letters = "nrt'\"\\", meanings = "\n\r\t'\"\\";
    std::string result;
    for (size_t i = 0; i < text.size(); ++i) {
        char byte = 0;
        size_t letter = std::string_view::npos;
        if (text[i] == '\\' && i + 1 < text.size()) letter = letters.find(text[i + 1]);
        if (letter != std::string_view::npos) {
            result += meanings[letter];
            ++i;
        } else if (text[i] == '\\' && read_hexadecimal(text.substr(i), byte)) {
            result += byte;
            i += 3;
        } else {
            result += text[i];
        }
    }
    return result;
}

std::string read_bytes(const std::string& path, const std::string& what,
                       const Interrupts* interrupts, size_t most) {
    const Source source(path);
    if (source.number() < 0) fail(what, path);
    return read_all(source.number(), what, path, interrupts, most);
}

std::string read_text(const std::string& path, const std::string& what,
                      const Interrupts* interrupts, size_t most) {
    return without_last_newline(read_bytes(path, what, interrupts, most));
}

std::string read_prompt(const Arguments& arguments, const Interrupts* interrupts) {
    if (arguments.has("prompt") + arguments.has("file") + arguments.on("stdin") > 1)
        throw Error("more than one text given: choose one of -p, -f and standard input");
    const bool escapes = arguments.on("escape", true);
    std::string text;
    if (arguments.has("prompt")) {
        text = arguments.text("prompt");
    } else if (arguments.has("file")) {
        text = read_text(arguments.text("file"), "the prompt", interrupts);
    } else if (arguments.on("stdin") || isatty(STDIN_FILENO) == 0) {
        text = without_last_newline(
            read_all(STDIN_FILENO, "the prompt", "standard input", interrupts));
    }
    return escapes ? unescape(text) : text;
}

}  // namespace tandem::cli
