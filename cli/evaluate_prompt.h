// The first part of a run: a prompt is read, and whoever waits sees how far that is.
#pragma once

#include <cstdint>
#include <functional>

#include "cli/accounts.h"
#include "cli/driver.h"

namespace tandem::cli {

// Does `evaluate`, by which a session of the driver evaluates so many tokens, with a bar on a
// terminal. The account gets the time, and the tokens that were evaluated, even if an Error or an
// interrupt ends it before the last.
void evaluate_prompt(const Driver& driver, int64_t tokens, Account& account,
                     const std::function<void()>& evaluate);

}  // namespace tandem::cli
