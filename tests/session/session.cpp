// A session against an engine that only writes down what it is asked.
#include "model/session.h"

#include <gtest/gtest.h>

#include "gguf/error.h"
#include "gguf/vectors.h"

namespace tandem::test {

using namespace model;

namespace {

using Tokens = std::vector<int32_t>;

// Its logits are those of a model that says the token's own id, then its position.
struct Recorder {
    std::vector<graph::StepInputs> steps;
    std::string calls;  // "s" submitted, "w" waited for, "3" done with 3 tokens
    std::vector<float> logits;

    Stepper stepper(int64_t most_tokens, int64_t context) {
        return {.submit =
                    [this](graph::StepInputs inputs) {
                        calls += 's';
                        steps.push_back(std::move(inputs));
                        return uint64_t(steps.size() - 1);
                    },
                .wait =
                    [this](uint64_t ticket, const Rows& rows) {
                        calls += 'w';
                        const graph::StepInputs& step = steps[ticket];
                        for (size_t i = 0; i < step.rows.size(); ++i) {
                            size_t token = size_t(step.rows[i]);
                            logits = {float(step.ids[token]), float(step.positions[token])};
                            rows(int64_t(i), logits);
                        }
                    },
                .done = [this](int64_t tokens) { calls += std::to_string(tokens); },
                .most_tokens = most_tokens,
                .context = context,
                .vocab = 100};
    }
};

Tokens values(std::span<const float> logits) { return {logits.begin(), logits.end()}; }

std::string fault(Session& session, const Tokens& tokens) {
    return test::error_of([&] { session.evaluate(tokens); });
}

}  // namespace

TEST(session, gives_a_prompt_in_steps_before_it_waits_for_them) {
    Recorder recorder;
    Session session(recorder.stepper(3, 20));
    EXPECT_EQ(values(session.evaluate(Tokens{1, 2, 3, 4, 5, 6, 7})), (Tokens{7, 6}));
    EXPECT_EQ(recorder.calls, "sssw3w3w1");
    EXPECT_EQ(session.position(), 7);
    EXPECT_EQ(session.left(), 13);
    ASSERT_EQ(recorder.steps.size(), 3u);
    EXPECT_EQ(recorder.steps[0].ids, (Tokens{1, 2, 3}));
    EXPECT_EQ(recorder.steps[1].positions, (Tokens{3, 4, 5}));
    EXPECT_EQ(recorder.steps[1].sequences[0].cached, 3);
    EXPECT_TRUE(recorder.steps[1].rows.empty());
    EXPECT_EQ(recorder.steps[2].rows, (Tokens{0}));
}

TEST(session, goes_on_behind_what_it_has) {
    Recorder recorder;
    Session session(recorder.stepper(8, 20));
    session.evaluate(Tokens{1, 2, 3});
    EXPECT_EQ(values(session.evaluate(Tokens{9})), (Tokens{9, 3}));
    EXPECT_EQ(recorder.calls, "sw3sw1");
    EXPECT_EQ(session.position(), 4);
}

TEST(session, goes_on_behind_what_the_engine_has) {
    Recorder recorder;
    Session session(recorder.stepper(8, 20), 5);
    EXPECT_EQ(session.left(), 15);
    EXPECT_EQ(values(session.evaluate(Tokens{9})), (Tokens{9, 5}));
    EXPECT_EQ(recorder.steps[0].sequences[0].cached, 5);
}

TEST(session, gives_all_rows_where_they_are_wanted) {
    Recorder recorder;
    Session session(recorder.stepper(2, 20));
    Tokens seen;
    session.evaluate(Tokens{5, 6, 7, 8, 9}, [&](int64_t first, std::span<const float> logits) {
        EXPECT_EQ(first, int64_t(seen.size()));
        seen.push_back(int32_t(logits[0]));
    });
    EXPECT_EQ(seen, (Tokens{5, 6, 7, 8, 9}));
    EXPECT_EQ(recorder.calls, "sssw2w2w1");
}

TEST(session, refuses_what_has_no_room_or_does_not_exist) {
    Recorder recorder;
    Session session(recorder.stepper(8, 4));
    session.evaluate(Tokens{1, 2, 3});
    EXPECT_EQ(
        fault(session, {4, 5}),
        "the context of 4 tokens holds 3 and has no room for 2 more; a longer one (-c) would");
    EXPECT_EQ(fault(session, {100}), "token 100 does not exist: the model has tokens 0 to 99");
    EXPECT_EQ(fault(session, {-1}), "token -1 does not exist: the model has tokens 0 to 99");
    EXPECT_EQ(session.position(), 3);
    EXPECT_EQ(fault(session, {4}), "");
    EXPECT_EQ(session.left(), 0);
}

}  // namespace tandem::test
