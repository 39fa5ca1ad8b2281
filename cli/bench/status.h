// One line on a terminal that says what is being done, or a line for each thing where asked for.
#pragma once

#include <string>

namespace tandem::cli {

class Status {
  public:
    explicit Status(bool lines);
    ~Status() { clear(); }
    Status(const Status&) = delete;

    void begin(std::string prefix) { prefix_ = std::move(prefix); }
    void show(const std::string& what);
    void clear();  // before anything else is written

  private:
    const bool lines_, terminal_;
    std::string prefix_;
    bool shown_ = false;
};

}  // namespace tandem::cli
