// A bar that fills while something takes longer than a moment: on a terminal only, on standard
// error.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tandem::cli {

enum class Unit { Bytes, Tokens };

class Progress {
  public:
    explicit Progress(std::string title, Unit unit = Unit::Bytes);  // "loading model.gguf"
    ~Progress();                                                    // takes the bar away
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void show(int64_t done, int64_t total);

  private:
    const std::string title_;
    const Unit unit_;
    const bool terminal_;
    const std::chrono::steady_clock::time_point start_;
    bool shown_ = false;
};

// "loading model.gguf [######      ] 50 % of 1.2 GiB", in less than `columns`: a line that is
// broken cannot be written over. Where there is too little room, without its bar, then without its
// title.
std::string progress_line(std::string_view title, int64_t done, int64_t total, size_t columns,
                          Unit unit = Unit::Bytes);

}  // namespace tandem::cli
