// Runs the built program as users do: words in, text and an exit code out.
#pragma once

#include <csignal>
#include <string>
#include <vector>

#include <sys/types.h>

namespace tandem::test {

struct Result {
    int code = -1;   // that the process exited with; -1: a signal ended it, or it hung
    int signal = 0;  // that ended it
    std::string out, error;
};

class Process {
  public:
    // `input` is what standard input holds, to its end. What the program keeps of measurements goes
    // to the tests' own folder.
    explicit Process(const std::vector<std::string>& words, const std::string& input = {});
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
    friend Result shell(const std::string& line);
    Process(const std::string& program, std::vector<std::string> words, const std::string& input);
    bool read_some(int milliseconds);

    pid_t pid_ = -1;
    int out_ = -1, error_ = -1;
    Result result_;
};

// Runs build/tandem to its end.
Result tandem(const std::vector<std::string>& words, const std::string& input = {});
// Runs a line of the shell to its end.
Result shell(const std::string& line);
// As one word of such a line, whatever it holds.
std::string quoted(const std::string& word);

}  // namespace tandem::test
