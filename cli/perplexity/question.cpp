#include "cli/perplexity/question.h"

#include <algorithm>

#include "gguf/error.h"

namespace tandem::cli {

namespace {

using Tokens = std::vector<int32_t>;

// Tokens at the beginning of all candidates; one at least is left to each.
int64_t common_tokens(const std::vector<Candidate>& candidates) {
    const Tokens& any = candidates[0].tokens;
    size_t common = any.size();
    for (const Candidate& candidate : candidates) {
        const Tokens& own = candidate.tokens;
        const auto parting = std::ranges::mismatch(any, own).in1 - any.begin();
        common = std::min({common, size_t(parting), own.size() - 1});
    }
    return int64_t(common);
}

// What is predicted of each candidate lies behind its beginning, where in all of them more than
// three tokens do behind what is common, and some behind the beginning. The last token, which ends
// all of them alike, is left out.
void pass_over(const std::vector<std::string>& beginnings, const model::Tokenizer& tokenizer,
               std::vector<Candidate>& candidates, int64_t common) {
    constexpr int64_t few = 3;
    std::vector<int64_t> begins;
    bool enough = true;
    for (size_t i = 0; i < candidates.size(); ++i) {
        const Tokens beginning = tokenizer.encode(beginnings[i], {.parse_special = false});
        begins.push_back(int64_t(beginning.size()) - (tokenizer.adds_eos() ? 1 : 0));
        const auto size = int64_t(candidates[i].tokens.size());
        enough = enough && size - common > few && size > begins[i];
    }
    for (size_t i = 0; i < candidates.size(); ++i) {
        Candidate& candidate = candidates[i];
        if (enough) candidate.first = std::max(candidate.first, begins[i]);
        if (candidate.end - candidate.first > 1) --candidate.end;
    }
}

}  // namespace

int64_t Question::evaluated() const {
    int64_t sum = shared;
    for (const Candidate& candidate : candidates) sum += candidate.evaluated() - shared;
    return sum;
}

int64_t Question::context() const {
    int64_t most = 0;
    for (const Candidate& candidate : candidates) most = std::max(most, candidate.evaluated());
    return most;
}

Question to_question(const Task& task, const model::Tokenizer& tokenizer) {
    Question question;
    for (const std::string& text : task.texts) {
        Candidate candidate{.tokens = tokenizer.encode(text, {.parse_special = false})};
        candidate.end = int64_t(candidate.tokens.size());
        if (candidate.end < 2) throw Error("a text has less than two tokens: nothing is predicted");
        question.candidates.push_back(std::move(candidate));
    }
    question.shared = common_tokens(question.candidates);
    for (Candidate& candidate : question.candidates)
        candidate.first = std::max<int64_t>(1, question.shared);
    if (!task.beginnings.empty())
        pass_over(task.beginnings, tokenizer, question.candidates, question.shared);
    return question;
}

}  // namespace tandem::cli
