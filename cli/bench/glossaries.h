// What the help says of `tandem bench` beside its options.
#pragma once

#include "cli/options.h"

namespace tandem::cli {

extern const Glossary bench_columns;      // of the table, those that are not llama-bench's
extern const Glossary profile_columns;    // of the tables of --profile
extern const Glossary bench_environment;  // variables that it alone reads

}  // namespace tandem::cli
