#include "cli/perplexity/windows.h"

#include <algorithm>
#include <deque>

namespace tandem::cli {

namespace {

// A step that is on its way, and what its rows of logits are to predict.
struct Step {
    parallel::Ticket ticket = 0;
    struct Prediction {
        int64_t window;
        int32_t target;
    };
    std::vector<Prediction> rows;
    std::vector<int64_t> completes;  // windows
};

class Evaluation {
  public:
    Evaluation(parallel::Executor& executor, const Windows& windows, const WindowDone& done,
               const Look& look)
        : executor_(executor), windows_(windows), done_(done), look_(look) {}

    void run() {
        require_tokens();
        const int64_t most = executor_.most_tokens();
        const int64_t together = std::clamp<int64_t>(most / windows_.length, 1, windows_.slots);
        for (int64_t window = 0; window < windows_.count; window += together) {
            const int64_t end = std::min(windows_.count, window + together);
            // Windows that do not fit into a step are evaluated in pieces.
            const int64_t piece = std::min(windows_.length, most);
            for (int64_t begin = 0; begin < windows_.length; begin += piece)
                submit(window, end, begin, std::min(windows_.length, begin + piece));
        }
        while (!steps_.empty()) finish_first();
    }

  private:
    void require_tokens() const {
        const int64_t vocab = executor_.vocab();
        const int64_t used = (windows_.count - 1) * windows_.distance() + windows_.length;
        graph::require_tokens(windows_.tokens.first(size_t(used)), vocab);
        if (windows_.first_token >= 0) graph::require_tokens({&windows_.first_token, 1}, vocab);
    }

    // Positions `begin` to `end` of some windows.
    void submit(int64_t first, int64_t last, int64_t begin, int64_t end) {
        Step step;
        graph::StepInputs inputs;
        for (int64_t window = first; window < last; ++window) {
            const auto own = windows_.tokens.subspan(size_t(window * windows_.distance()));
            std::vector<int32_t> ids(own.begin() + begin, own.begin() + end);
            if (begin == 0 && windows_.first_token >= 0) ids[0] = windows_.first_token;
            const int64_t base = inputs.tokens();
            inputs.append(int32_t(window - first), int32_t(begin), ids);
            const int64_t last = windows_.length - 1, first_row = last - windows_.predicted();
            for (int64_t i = std::max(begin, first_row); i < std::min(end, last); ++i) {
                inputs.rows.push_back(int32_t(base + i - begin));
                step.rows.push_back({window, own[size_t(i) + 1]});
            }
            if (end == windows_.length) step.completes.push_back(window);
        }
        step.ticket = executor_.submit(std::move(inputs));
        steps_.push_back(std::move(step));
        if (int64_t(steps_.size()) > windows_.in_flight) finish_first();
    }

    void finish_first() {
        const Step& step = steps_.front();
        const auto vocab = size_t(executor_.vocab());
        executor_.wait(step.ticket, [&](int64_t first, std::span<const float> logits) {
            for (size_t i = 0; i * vocab < logits.size(); ++i) {
                const Step::Prediction& row = step.rows[size_t(first) + i];
                likelihoods(row.window).add(look_(logits.subspan(i * vocab, vocab), row.target));
            }
        });
        for (int64_t window : step.completes) {
            done_(window, likelihoods(window));
            open_.pop_front();
            ++first_open_;
        }
        steps_.pop_front();
    }

    Likelihoods& likelihoods(int64_t window) {
        while (int64_t(open_.size()) <= window - first_open_) open_.emplace_back();
        return open_[size_t(window - first_open_)];
    }

    parallel::Executor& executor_;
    const Windows& windows_;
    const WindowDone& done_;
    const Look& look_;
    std::deque<Step> steps_;
    std::deque<Likelihoods> open_;  // of windows that are not complete
    int64_t first_open_ = 0;
};

}  // namespace

void evaluate(parallel::Executor& executor, const Windows& windows, const WindowDone& done,
              const Look& look) {
    Evaluation(executor, windows, done, look).run();
}

}  // namespace tandem::cli
