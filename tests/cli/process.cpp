#include "cli/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "cli/tiny_model.h"

namespace tandem::test {

namespace {

constexpr auto patience = std::chrono::seconds(120);

struct Pipe {
    int from = -1, to = -1;
    Pipe() {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
        from = ends[0];
        to = ends[1];
    }
};

// A file that is gone as soon as it is closed.
int file_with(const std::string& text) {
    FILE* file = std::tmpfile();
    if (!file) throw std::runtime_error("no temporary file");
    std::fwrite(text.data(), 1, text.size(), file);
    std::rewind(file);
    int descriptor = fcntl(fileno(file), F_DUPFD_CLOEXEC, 0);
    std::fclose(file);
    return descriptor;
}

// The environment's variables, with the folder of the tests in the place of the user's cache.
std::vector<std::string> variables() {
    const std::string cache = "XDG_CACHE_HOME=";
    std::vector<std::string> all{cache + own_folder().string()};
    for (char** variable = environ; *variable; ++variable)
        if (!std::string_view(*variable).starts_with(cache)) all.emplace_back(*variable);
    return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
}

void close_one(int& descriptor) {
    if (descriptor >= 0) close(descriptor);
    descriptor = -1;
}

}  // namespace

Process::Process(const std::vector<std::string>& words, const std::string& input)
    : Process(TANDEM_BINARY, words, input) {}

Process::Process(const std::string& program, std::vector<std::string> words,
                 const std::string& input) {
    words.insert(words.begin(), program);
    std::vector<std::string> environment = variables();
    const std::vector<char*> arguments = pointers_to(words), inherited = pointers_to(environment);
    Pipe out, error;
    int in = file_with(input);
    pid_ = fork();
    if (pid_ == 0) {
        dup2(in, STDIN_FILENO);
        dup2(out.to, STDOUT_FILENO);
        dup2(error.to, STDERR_FILENO);
        // Which a test run in the background of a script, or under nohup, ignores.
        signal(SIGINT, SIG_DFL);
        signal(SIGHUP, SIG_DFL);
        execve(arguments[0], arguments.data(), inherited.data());
        _exit(127);
    }
    close(in);
    close(out.to);
    close(error.to);
    out_ = out.from;
    error_ = error.from;
}

Process::~Process() {
    close_one(out_);
    close_one(error_);
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
}

void Process::close_out() { close_one(out_); }

// Takes what has come; false once both ends are closed.
bool Process::read_some(int milliseconds) {
    pollfd files[2] = {{.fd = out_, .events = POLLIN}, {.fd = error_, .events = POLLIN}};
    if (out_ < 0 && error_ < 0) return false;
    if (poll(files, 2, milliseconds) <= 0) return true;
    auto take = [](const pollfd& file, int& descriptor, std::string& text) {
        if (descriptor < 0 || file.revents == 0) return;
        char block[4096];
        ssize_t count = read(descriptor, block, sizeof block);
        if (count > 0) text.append(block, size_t(count));
        if (count <= 0) close_one(descriptor);
    };
    take(files[0], out_, result_.out);
    take(files[1], error_, result_.error);
    return true;
}

bool Process::has_written(size_t bytes_of_out, size_t bytes_of_error) {
    auto end = std::chrono::steady_clock::now() + patience;
    while (result_.out.size() < bytes_of_out || result_.error.size() < bytes_of_error)
        if (std::chrono::steady_clock::now() > end || !read_some(10)) return false;
    return true;
}

bool Process::takes_interrupts() const {
    const auto end = std::chrono::steady_clock::now() + patience;
    const std::string key = "SigBlk:";
    while (std::chrono::steady_clock::now() < end) {
        std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
        for (std::string word; status >> word;) {
            if (word != key || !(status >> word)) continue;
            if (std::stoull(word, nullptr, 16) >> (SIGINT - 1) & 1) return true;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
}

Result Process::finish() {
    auto end = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < end) {
        bool open = read_some(10);
        int status = 0;
        if (open || waitpid(pid_, &status, WNOHANG) != pid_) continue;
        pid_ = -1;
        if (WIFEXITED(status)) result_.code = WEXITSTATUS(status);
        if (WIFSIGNALED(status)) result_.signal = WTERMSIG(status);
        break;
    }
    return result_;
}

Result tandem(const std::vector<std::string>& words, const std::string& input) {
    return Process(words, input).finish();
}

Result shell(const std::string& line) { return Process("/bin/sh", {"-c", line}, "").finish(); }

std::string quoted(const std::string& word) {
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
    return text + "'";
}

}  // namespace tandem::test
