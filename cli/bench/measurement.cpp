#include "cli/bench/measurement.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "cli/seconds.h"
#include "cli/synth/random_rows.h"

namespace tandem::cli {

namespace {

class Runner {
  public:
    Runner(Subject& subject, const Case& test) : subject_(subject), test_(test) {}

    // Evaluates `count` tokens from `position` on, one sequence after another, in batches of which
    // each gives one row of logits. Waits only at the end, so that several steps may be on their
    // way.
    void evaluate(int64_t position, int64_t count) {
        if (count <= 0) return;
        parallel::Ticket last = 0;
        for (int64_t slot = 0; slot < sequences(); ++slot)
            for (int64_t done = 0; done < count;) {
                const int64_t batch_end = std::min(count, done + test_.batch);
                while (done < batch_end) {
                    const int64_t tokens =
                        std::min({test_.step, subject_.executor.most_tokens(), batch_end - done});
                    graph::StepInputs inputs;
                    append(inputs, slot, position + done, tokens, done + tokens == batch_end);
                    last = subject_.executor.submit(std::move(inputs));
                    done += tokens;
                }
            }
        subject_.cached = std::max(subject_.cached, position + count);
        subject_.executor.wait(last);
    }

    // A token of every sequence in each step.
    void generate(int64_t position, int64_t count) {
        for (int64_t i = 0; i < count; ++i) {
            graph::StepInputs inputs;
            for (int64_t slot = 0; slot < sequences(); ++slot)
                append(inputs, slot, position + i, 1, true);
            subject_.executor.wait(subject_.executor.submit(std::move(inputs)));
        }
        subject_.cached = std::max(subject_.cached, position + count);
    }

  private:
    int64_t sequences() const { return test_.setup.sequences; }

    // Random tokens of a sequence; `logits`: behind the last one.
    void append(graph::StepInputs& inputs, int64_t slot, int64_t position, int64_t count,
                bool logits) {
        std::vector<int32_t> ids;
        for (int64_t i = 0; i < count; ++i)
            ids.push_back(int32_t(mix(++random_) % uint64_t(subject_.executor.vocab())));
        if (position == 0 && subject_.bos >= 0) ids[0] = subject_.bos;
        inputs.append(int32_t(slot), int32_t(position), ids);
        if (logits) inputs.rows.push_back(int32_t(inputs.tokens() - 1));
    }

    Subject& subject_;
    const Case& test_;
    uint64_t random_ = 0;
};

std::string count_of(int64_t number, int64_t total) {
    return std::to_string(number) + "/" + std::to_string(total);
}

// Adds what a phase needs.
void add(Least& least, double reading, double multiplying) {
    least.reading += reading;
    least.multiplying += multiplying;
    least.seconds += std::max(reading, multiplying);
}

}  // namespace

void measure(Subject& subject, const Case& test, const MeasurementRules& rules,
             const std::function<void(const std::string&)>& say,
             std::vector<int64_t>& nanoseconds) {
    Runner runner(subject, test);
    auto warm_up = [&](const std::string& what, auto step) {
        say(what);
        step();  // a first one may compile
        for (const auto start = Clock::now(); seconds_since(start) < rules.least_warmup;) step();
    };
    if (rules.warmup && test.prompt > 0)
        warm_up("warmup prompt run", [&] { runner.evaluate(0, test.prompt); });
    if (rules.warmup && test.generated > 0)
        warm_up("warmup generation run", [&] { runner.generate(0, 1); });
    for (int64_t i = 1; i <= rules.repetitions; ++i) {
        if (test.depth > 0) {
            const bool cached = subject.cached >= test.depth;
            say("depth run " + count_of(i, rules.repetitions) + (cached ? " (cached)" : ""));
            runner.evaluate(subject.cached, test.depth - subject.cached);
        }
        if (test.prompt > 0) say("prompt run " + count_of(i, rules.repetitions));
        const auto start = Clock::now();
        runner.evaluate(test.depth, test.prompt);
        // Saying so takes no time to speak of.
        if (test.generated > 0) say("generation run " + count_of(i, rules.repetitions));
        runner.generate(test.depth + test.prompt, test.generated);
        nanoseconds.push_back(
            std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count());
    }
}

double run_prompt(Subject& subject, const Case& test) {
    const auto start = Clock::now();
    Runner(subject, test).evaluate(test.depth, test.prompt);
    return seconds_since(start);
}

double run_generation(Subject& subject, const Case& test) {
    const auto start = Clock::now();
    Runner(subject, test).generate(test.depth + test.prompt, test.generated);
    return seconds_since(start);
}

double seconds_of(double multiply_adds, double float_multiply_adds, const kernels::Limits& limits) {
    const double rate = limits.multiply_adds_per_second;
    const double float_rate = limits.float_multiply_adds_per_second;
    return (multiply_adds - float_multiply_adds) / rate +
           float_multiply_adds / (float_rate > 0 ? float_rate : rate);
}

Least least_seconds(const parallel::DeviceWork& work, const kernels::Limits& limits,
                    const Case& test) {
    using parallel::Work;
    const auto prompt = double(test.prompt), generated = double(test.generated);
    const auto depth = double(test.depth), sequences = double(test.setup.sequences);
    Least least;
    // Of `tokens` tokens and `rows` rows of logits, of which the average has so many before it.
    auto multiplying = [&](const Work& body, const Work& head, double tokens, double before,
                           double rows, double before_row) {
        auto sum = [&](double Work::*each, double Work::*cached) {
            return tokens * (body.*each + before * body.*cached) +
                   rows * (head.*each + before_row * head.*cached);
        };
        return seconds_of(sum(&Work::multiply_adds, &Work::cached_multiply_adds),
                          sum(&Work::float_multiply_adds, &Work::cached_float_multiply_adds),
                          limits);
    };
    if (test.prompt > 0) {
        // The average token has half of the prompt before it; a cache is read at least once.
        const double all = depth + prompt;
        const double own_batches = std::ceil(prompt / double(test.batch));
        const double batches = sequences * own_batches;
        const double before_row = depth + prompt * (own_batches + 1) / (2 * own_batches);
        const double steps = std::max(batches, sequences * prompt / double(test.step));
        const Work body = work.body.behind(depth, prompt), head = work.head.behind(before_row, 0);
        const double bytes = steps * body.bytes_of_step(sequences * prompt / steps) +
                             batches * (head.bytes + before_row * head.cached_bytes) +
                             sequences * all * body.cached_bytes;
        add(least, bytes / limits.bytes_per_second,
            multiplying(body, head, sequences * prompt, depth + prompt / 2, batches, before_row));
    }
    if (test.generated > 0) {
        const double before = depth + prompt + (generated - 1) / 2;
        const Work body = work.body.behind(depth + prompt, generated);
        const Work head = work.head.behind(depth + prompt, generated);
        const double bytes =
            generated *
            (body.bytes_of_step(sequences, sequences) + head.bytes_of_step(sequences, sequences) +
             sequences * before * (body.cached_bytes + head.cached_bytes));
        add(least, bytes / limits.bytes_per_second,
            multiplying(body, head, sequences * generated, before, sequences * generated, before));
    }
    return least;
}

int32_t first_token(const gguf::Metadata& metadata) {
    if (!metadata.boolean("tokenizer.ggml.add_bos_token").value_or(false)) return -1;
    return int32_t(metadata.integer("tokenizer.ggml.bos_token_id").value_or(-1));
}

}  // namespace tandem::cli
