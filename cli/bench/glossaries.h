// What the help says of `tandem bench` beside its options.
#pragma once

#include "cli/options.h"

namespace tandem::cli {

extern const Glossary bench_environment;  // variables that it alone reads

}  // namespace tandem::cli
