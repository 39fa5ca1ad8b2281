#include "cli/perplexity/choices.h"

#include <algorithm>
#include <deque>

#include "cli/perplexity/score.h"
#include "parallel/saved_state.h"

namespace tandem::cli {

namespace {

// A question that is being evaluated, and how far.
struct Open {
    size_t question = 0;
    int32_t slot = 0;
    size_t candidate = 0;
    int64_t position = 0;  // of the candidate's token that is evaluated next
};

// A step that is on its way, and what its rows of logits are to predict.
struct Step {
    parallel::Ticket ticket = 0;
    int64_t tokens = 0;
    struct Prediction {
        size_t question, candidate;
        int32_t target;
    };
    std::vector<Prediction> predictions;
    std::vector<size_t> ends;       // in `predictions`, of each row
    std::vector<size_t> completes;  // questions
};

struct Sums {
    std::vector<double> of_candidates;  // of negative log-likelihoods
    bool complete = false;
};

class Evaluation {
  public:
    Evaluation(parallel::Executor& executor, const Questions& questions, const QuestionDone& done)
        : executor_(executor), questions_(questions), done_(done) {
        for (int64_t slot = questions.slots; slot-- > 0;) free_.push_back(int32_t(slot));
    }

    void run() {
        for (const Question& question : questions_.all)
            for (const Candidate& candidate : question.candidates)
                graph::require_tokens(candidate.tokens, executor_.vocab());
        while (next_ < questions_.all.size() || !open_.empty()) submit();
        while (!steps_.empty()) finish_first();
    }

  private:
    const Question& question(const Open& open) const { return questions_.all[open.question]; }

    // As many tokens as a step takes, of the questions in their order.
    void submit() {
        for (; !free_.empty() && next_ < questions_.all.size(); free_.pop_back())
            open_.push_back({.question = next_++, .slot = free_.back()});
        Step step;
        graph::StepInputs inputs;
        for (size_t i = 0; i < open_.size() && inputs.tokens() < executor_.most_tokens();) {
            append(open_[i], inputs, step);
            if (open_[i].candidate < question(open_[i]).candidates.size()) {
                ++i;
                continue;
            }
            step.completes.push_back(open_[i].question);
            free_.push_back(open_[i].slot);
            open_.erase(open_.begin() + int64_t(i));
        }
        step.tokens = inputs.tokens();
        step.ticket = executor_.submit(std::move(inputs));
        steps_.push_back(std::move(step));
        if (int64_t(steps_.size()) > questions_.in_flight) finish_first();
    }

    // What there is room for of the candidate that a question is at.
    void append(Open& open, graph::StepInputs& inputs, Step& step) const {
        const Question& question = this->question(open);
        const Candidate& candidate = question.candidates[open.candidate];
        const int64_t base = inputs.tokens(), begin = open.position;
        const int64_t end = std::min(candidate.evaluated(), begin + executor_.most_tokens() - base);
        inputs.append(open.slot, int32_t(begin),
                      std::span(candidate.tokens).subspan(size_t(begin), size_t(end - begin)));
        for (int64_t position = begin; position < end; ++position) {
            add_predictions(open, position + 1, step);
            const size_t before = step.ends.empty() ? 0 : step.ends.back();
            if (step.predictions.size() == before) continue;
            inputs.rows.push_back(int32_t(base + position - begin));
            step.ends.push_back(step.predictions.size());
        }
        open.position = end;
        // Of some candidates all but the last token is common.
        while (open.candidate < question.candidates.size() &&
               open.position == question.candidates[open.candidate].evaluated()) {
            ++open.candidate;
            open.position = question.shared;
        }
    }

    // That of a token, by all before it: where these are common, of every candidate.
    void add_predictions(const Open& open, int64_t token, Step& step) const {
        const std::vector<Candidate>& all = question(open).candidates;
        const bool common = token <= question(open).shared;
        for (size_t i = common ? 0 : open.candidate; i < all.size(); ++i) {
            if (all[i].predicts(token))
                step.predictions.push_back({open.question, i, all[i].tokens[size_t(token)]});
            if (!common) return;
        }
    }

    void finish_first() {
        const Step& step = steps_.front();
        const auto vocab = size_t(executor_.vocab());
        executor_.wait(step.ticket, [&](int64_t first, std::span<const float> logits) {
            for (size_t i = 0; i * vocab < logits.size(); ++i) {
                const size_t row = size_t(first) + i;
                for (size_t j = row == 0 ? 0 : step.ends[row - 1]; j < step.ends[row]; ++j) {
                    const Step::Prediction& one = step.predictions[j];
                    sums(one.question).of_candidates[one.candidate] +=
                        negative_log_likelihood(logits.subspan(i * vocab, vocab), one.target);
                }
            }
        });
        evaluated_ += step.tokens;
        for (size_t question : step.completes) sums(question).complete = true;
        steps_.pop_front();
        for (; !sums_.empty() && sums_.front().complete; ++first_, sums_.pop_front())
            done_(first_, means(first_), evaluated_);
    }

    Sums& sums(size_t question) {
        while (sums_.size() <= question - first_)
            sums_.push_back({.of_candidates = std::vector<double>(
                                 questions_.all[first_ + sums_.size()].candidates.size())});
        return sums_[question - first_];
    }

    std::vector<double> means(size_t question) {
        std::vector<double> means;
        const std::vector<Candidate>& candidates = questions_.all[question].candidates;
        for (size_t i = 0; i < candidates.size(); ++i)
            means.push_back(-sums(question).of_candidates[i] /
                            double(candidates[i].end - candidates[i].first));
        return means;
    }

    parallel::Executor& executor_;
    const Questions& questions_;
    const QuestionDone& done_;
    size_t next_ = 0;            // question to open
    std::vector<Open> open_;     // in the order of the questions
    std::vector<int32_t> free_;  // slots
    std::deque<Step> steps_;
    std::deque<Sums> sums_;  // of questions that are not done
    size_t first_ = 0;       // of these
    int64_t evaluated_ = 0;  // tokens
};

}  // namespace

void share_what_stays(const graph::Graph& graph, std::span<Question> questions) {
    for (Question& question : questions)
        if (!parallel::can_return(graph, question.context(), question.shared)) question.shared = 0;
}

void evaluate(parallel::Executor& executor, const Questions& questions, const QuestionDone& done) {
    Evaluation(executor, questions, done).run();
}

}  // namespace tandem::cli
