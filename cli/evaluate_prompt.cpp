#include "cli/evaluate_prompt.h"

#include <chrono>
#include <future>

#include "cli/progress.h"

namespace tandem::cli {

void evaluate_prompt(const Driver& driver, int64_t tokens, Account& account,
                     const std::function<void()>& evaluate) {
    Entry entry(account, driver.executor());
    Progress progress("reading the prompt", Unit::Tokens);
    const int64_t before = driver.evaluated();
    auto done = [&] { return driver.evaluated() - before; };
    auto evaluating = std::async(std::launch::async, evaluate);
    while (evaluating.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready)
        progress.show(done(), tokens);
    account.tokens += done();
    evaluating.get();
}

}  // namespace tandem::cli
