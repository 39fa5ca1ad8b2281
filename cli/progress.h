// A bar that fills while a model is loaded: on a terminal only, on standard error.
#pragma once

#include <cstdint>
#include <string>

namespace tandem::cli {

class Progress {
  public:
    explicit Progress(std::string title);  // "loading model.gguf"
    ~Progress();                           // takes the bar away
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void show(int64_t done, int64_t total);

  private:
    const std::string title_;
    const bool terminal_;
    bool shown_ = false;
};

}  // namespace tandem::cli
