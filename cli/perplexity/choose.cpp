#include "cli/perplexity/choose.h"

#include <algorithm>
#include <cmath>
#include <iostream>

#include "cli/format.h"
#include "cli/perplexity/choices.h"
#include "cli/perplexity/data.h"
#include "cli/perplexity/estimate.h"
#include "cli/prompt.h"
#include "cli/seconds.h"
#include "gguf/error.h"

namespace tandem::cli {

namespace {

constexpr const Benchmark* benchmarks[] = {&hellaswag, &winogrande, &multiple_choice};

std::string count_option(const Benchmark& benchmark) {
    return std::string(benchmark.name) + "-tasks";
}

std::vector<Question> to_questions(const std::string& path, const TaskSet& set,
                                   const model::Tokenizer& tokenizer, int64_t context) {
    std::vector<Question> questions;
    int64_t longest = 0;
    size_t number = 0;  // of the longest task
    auto place = [&](size_t task) { return path + ": task " + std::to_string(task) + ": "; };
    for (const Task& task : set.tasks) {
        try {
            questions.push_back(to_question(task, tokenizer));
        } catch (const Error& error) {
            throw Error(place(task.number) + error.what());
        }
        const int64_t needed = questions.back().context();
        if (needed > context) questions.back().candidates.clear();  // the longest one is named
        if (needed <= longest) continue;
        longest = needed;
        number = task.number;
    }
    if (longest > context)
        throw Error(place(number) + "needs a context of " + std::to_string(longest) +
                    " tokens, more than the " + std::to_string(context) + " that there are: -c " +
                    std::to_string(longest) + " has room for all tasks");
    return questions;
}

// As many as fill a step, where each has some tokens of one candidate in it, and fewer where their
// caches would hold too many.
int64_t questions_together(const std::vector<Question>& questions, int64_t step, int64_t context) {
    constexpr int64_t most_steps = 16;  // of tokens that all caches hold
    double tokens = 0, pieces = 0;
    for (const Question& question : questions) {
        tokens += double(question.evaluated());
        pieces += double(question.candidates.size());
    }
    const auto filling = int64_t(std::ceil(double(step) * pieces / tokens));
    return std::clamp<int64_t>(most_steps * step / context, 1, filling);
}

// Tells how far the evaluation is and how long it will take: when the first task is done, and every
// minute from then on.
class TimeLeft {
  public:
    TimeLeft(size_t tasks, int64_t tokens) : tasks_(tasks), tokens_(tokens) {}

    void tell(size_t tasks, int64_t tokens) {
        constexpr double pause = 60;  // seconds
        const double seconds = seconds_since(start_);
        if (told_ >= 0 && seconds < told_ + pause) return;
        told_ = seconds;
        std::cerr << format("perplexity: %zu of %zu tasks - ", tasks, tasks_)
                  << estimated_time(seconds * double(tokens_ - tokens) / double(tokens)) << "\n";
    }

  private:
    const size_t tasks_;
    const int64_t tokens_;
    const Clock::time_point start_ = Clock::now();
    double told_ = -1;  // seconds from the start; negative: never
};

}  // namespace

const Benchmark* chosen_benchmark(const Arguments& arguments, std::vector<std::string>& notes) {
    const Benchmark* chosen = nullptr;
    for (const Benchmark* benchmark : benchmarks) {
        if (arguments.on(benchmark->name)) chosen = benchmark;
        const std::string option = count_option(*benchmark);
        if (!arguments.on(benchmark->name) && arguments.has(option))
            notes.push_back("--" + option + " has no effect without --" +
                            std::string(benchmark->name));
    }
    if (chosen)
        for (const char* option : {"chunks", "ppl-output-type"})
            if (arguments.has(option))
                notes.push_back("--" + std::string(option) +
                                " has no effect: a text has windows, and --" +
                                std::string(chosen->name) + " tasks");
    return chosen;
}

void choose(const Benchmark& benchmark, const Arguments& arguments, const gguf::File& file,
            const model::Tokenizer& tokenizer, EngineOptions engine, Interrupts& interrupts) {
    const int64_t count =
        arguments.integer(count_option(benchmark), int64_t(benchmark.usual_count), 0);
    int64_t slots = arguments.integer("parallel", 0, 1);
    const std::string path = data_path(arguments, "tasks");
    const std::string bytes = read_bytes(path, "the tasks", &interrupts);
    TaskSet set;
    std::vector<Question> questions;
    {
        const EndedByInterrupt ended(interrupts);
        set = benchmark.read(path, bytes, size_t(count));
        questions = to_questions(path, set, tokenizer, engine.model.context);
    }
    // Caches are no longer than the longest text needs.
    int64_t& context = engine.model.context;
    context = 0;
    for (const Question& question : questions) context = std::max(context, question.context());
    engine.plan.context = context;
    if (slots == 0) slots = questions_together(questions, engine.plan.bucket, context);
    slots = std::min(slots, int64_t(questions.size()));
    engine.model.slots = slots;
    engine.plan.bucket = std::min(engine.plan.bucket, slots * context);
    engine.fewer_tokens = "fewer tasks at a time (-np)";
    Driver driver(file, engine, interrupts);
    share_what_stays(*driver.blueprint().graph, questions);
    int64_t tokens = 0;
    for (const Question& question : questions) tokens += question.evaluated();
    std::cerr << format(
        "perplexity: calculating %s over %zu of %zu tasks, n_ctx=%d, batch_size=%d, n_seq=%d\n",
        std::string(benchmark.name).c_str(), set.tasks.size(), set.total, int(context),
        int(engine.plan.bucket), int(slots));
    TimeLeft time_left(set.tasks.size(), tokens);
    Tally tally;
    // A device more than there are: while all of them work, the host looks at what is done.
    const Questions asked{
        .all = questions, .slots = slots, .in_flight = int64_t(engine.devices.size()) + 1};
    evaluate(driver.executor(), asked,
             [&](size_t question, const std::vector<double>& scores, int64_t evaluated) {
                 for (const double score : scores)
                     if (!std::isfinite(score))
                         throw Error("the model's logits are not all numbers");
                 const Task& task = set.tasks[question];
                 const auto chosen = size_t(std::ranges::max_element(scores) - scores.begin());
                 ++tally.tasks;
                 tally.right += task.right[chosen] ? 1 : 0;
                 tally.texts += int64_t(scores.size());
                 time_left.tell(size_t(tally.tasks), evaluated);
                 if (tally.tasks == 1) std::cout << benchmark.heading;
                 std::cout << benchmark.row(tally, task, scores, chosen) << std::flush;
                 if (!std::cout) throw Error("cannot write the scores to standard output");
             });
    // Of fewer than 100 tasks, too, of which llama-perplexity says nothing.
    if (benchmark.summary && tally.tasks > 1) std::cout << benchmark.summary(tally) << std::flush;
}

}  // namespace tandem::cli
