#include "model/session.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "gguf/error.h"

namespace tandem::model {

std::span<const float> Session::evaluate(std::span<const int32_t> tokens) {
    evaluate(tokens, Wanted::Last,
             [&](int64_t, std::span<const float> logits) { logits_ = logits; });
    return logits_;
}

void Session::evaluate(std::span<const int32_t> tokens, const Rows& rows) {
    logits_ = {};
    evaluate(tokens, Wanted::All, rows);
}

void Session::evaluate(std::span<const int32_t> tokens, Wanted wanted, const Rows& rows) {
    check(!tokens.empty() && stepper_.most_tokens > 0, "there are tokens to evaluate");
    if (int64_t(tokens.size()) > left())
        throw Error("the context of " + std::to_string(stepper_.context) +
                    (stepper_.context == 1 ? " token" : " tokens") + " holds " +
                    std::to_string(position_) + " and has no room for " +
                    std::to_string(tokens.size()) + " more; a longer one (-c) would");
    graph::require_tokens(tokens, stepper_.vocab);

    struct Submitted {
        uint64_t ticket;
        int64_t first, count;  // tokens: the index of the step's first, and how many
    };
    std::vector<Submitted> steps;
    const auto most = size_t(stepper_.most_tokens);
    for (size_t first = 0; first < tokens.size(); first += most) {
        auto chunk = tokens.subspan(first, std::min(most, tokens.size() - first));
        graph::StepInputs inputs;
        inputs.append(0, int32_t(position_), chunk);
        if (wanted == Wanted::All) {
            inputs.rows.resize(chunk.size());
            std::iota(inputs.rows.begin(), inputs.rows.end(), 0);
        } else if (first + chunk.size() == tokens.size()) {
            inputs.rows = {int32_t(chunk.size()) - 1};
        }
        steps.push_back(
            {stepper_.submit(std::move(inputs)), int64_t(first), int64_t(chunk.size())});
        position_ += int64_t(chunk.size());
    }
    for (const Submitted& step : steps) {
        stepper_.wait(step.ticket, [&](int64_t first, std::span<const float> logits) {
            rows(step.first + first, logits);
        });
        if (stepper_.done) stepper_.done(step.count);
    }
}

}  // namespace tandem::model
