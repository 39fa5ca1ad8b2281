#include "cli/bench/tables.h"

#include <iostream>

#include "gguf/error.h"

namespace tandem::cli {

Tables::Tables(const std::string& format, const std::string& error_format, std::string build,
               const Columns& columns)
    : build_(std::move(build)), columns_(columns) {
    out_.push_back({&std::cout, &find_format(format)});
    if (error_format != "none") out_.push_back({&std::cerr, &find_format(error_format)});
}

void Tables::begin() {
    for (const Out& out : out_) *out.stream << out.format->head(columns_);
}

void Tables::add(const Row& row) {
    if (first_) begin();
    for (const Out& out : out_) *out.stream << out.format->row(row, columns_, first_) << std::flush;
    first_ = false;
    if (!std::cout) throw Error("cannot write the table to standard output");
}

void Tables::finish(std::span<const Row> rows) {
    if (first_) begin();
    for (const Out& out : out_) *out.stream << out.format->foot(build_, rows) << std::flush;
}

}  // namespace tandem::cli
