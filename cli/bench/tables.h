// Where tables of measurements go: standard output and, if wanted, standard error.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "cli/bench/formats.h"

namespace tandem::cli {

class Tables {
  public:
    // Names of formats; `error_format` may be "none".
    Tables(const std::string& format, const std::string& error_format, std::string build,
           const Columns& columns);
    void add(const Row& row);                // rows appear at once
    void finish(std::span<const Row> rows);  // all of them

  private:
    struct Out {
        std::ostream* stream;
        const Format* format;
    };
    void begin();

    const std::string build_;
    const Columns columns_;
    std::vector<Out> out_;
    bool first_ = true;
};

}  // namespace tandem::cli
