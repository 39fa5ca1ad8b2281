// Runs the built program as users do: words in, text and an exit code out.
#pragma once

#include <csignal>
#include <string>
#include <vector>

#include <sys/types.h>

namespace tandem::test {

struct Result {
    int code = -1;  // 128 + the signal's number where one ended the process; -1: it hung
    std::string out, error;
};

class Process {
  public:
    // `input` is what standard input holds, to its end.
    explicit Process(std::vector<std::string> words, std::string input = {});
    ~Process();  // kills what still runs
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    // Waits until the program has written that much, or has ended; false where it never does.
    bool has_written(size_t bytes_of_out, size_t bytes_of_error = 0);
    // Waits until the program takes interrupts for itself; false where it never does.
    bool takes_interrupts() const;
    void interrupt(int signal = SIGINT) const { kill(pid_, signal); }
    // Closes what the program writes to, as `head` does.
    void close_out();
    // Waits for the end, two minutes at most.
    Result finish();

  private:
    bool read_some(int milliseconds);

    pid_t pid_ = -1;
    int out_ = -1, error_ = -1;
    Result result_;
};

// Runs build/tandem to its end.
Result tandem(std::vector<std::string> words, std::string input = {});

}  // namespace tandem::test
