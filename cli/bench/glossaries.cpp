#include "cli/bench/glossaries.h"

namespace tandem::cli {

namespace {

constexpr Term environment_terms[] = {
    {"TMPDIR",
     "where the file of --synthetic is written, under no name that could stay (default, and "
     "instead of /tmp: /var/tmp)"},
};

}  // namespace

const Glossary bench_environment{"environment", environment_terms};

}  // namespace tandem::cli
