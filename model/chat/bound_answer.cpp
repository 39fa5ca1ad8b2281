#include "model/chat/bound_answer.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tandem::model {

namespace {

bool is_white_space(std::string_view text) {
    return !text.empty() && text.find_first_not_of(" \t\n\v\f\r") == text.npos;
}

}  // namespace

BoundAnswer::BoundAnswer(grammar::Grammar grammar, const Tokenizer& tokenizer, bool special)
    : guide_(std::move(grammar), tokenizer, special),
      tokenizer_(tokenizer),
      bounds_{.allows = [this](int32_t token) { return allows(token); },
              .forbid = [this](std::span<float> logits) { forbid(logits); }} {}

void BoundAnswer::begin(std::span<const Mark> marks, const Voices& voices) {
    guide_.begin();
    if (marks.data() != marks_.data()) {
        marks_ = marks;
        of_marks_.clear();
        for (int32_t token = 0; token < tokenizer_.size(); ++token)
            if (is_of_mark(token)) of_marks_.push_back(token);
    }
    voices_ = voices;
    mark_.clear();
    behind_ = false;
}

std::string_view BoundAnswer::marked(int32_t token) const { return tokenizer_.piece(token, true); }

bool BoundAnswer::goes_on(std::string_view mark) const {
    return std::ranges::any_of(marks_, [&](const Mark& each) {
        return (each.anywhere || each.next == Voice::Thought) && each.text.starts_with(mark);
    });
}

// Whether a thought that goes on with this has not become an answer that says something.
bool BoundAnswer::stays_thought(std::string_view text) const {
    const bool may_end = std::ranges::any_of(
        marks_, [&](const Mark& mark) { return text.find(mark.text.back()) != text.npos; });
    if (!may_end) return true;
    Voices voices = voices_;
    voices.push(text);
    return voices.voice() == Voice::Thought || !voices.begun();
}

// A mark, or a control token in one.
bool BoundAnswer::is_of_mark(int32_t token) const {
    const std::string_view text = marked(token);
    const bool control = tokenizer_.piece(token).empty();
    return !text.empty() && std::ranges::any_of(marks_, [&](const Mark& mark) {
        return mark.text == text || (control && mark.text.find(text) != text.npos);
    });
}

bool BoundAnswer::allows(int32_t token) {
    const bool ends = tokenizer_.ends_generation(token);
    const std::string_view text = marked(token);
    switch (part_of(token)) {
        case Part::Thought:
            return !ends && stays_thought(text);
        case Part::Mark:
            return !ends && !text.empty() && goes_on(mark_ + std::string(text));
        case Part::Space:
            return true;
        case Part::Answer:
            break;
    }
    return !std::ranges::binary_search(of_marks_, token) && guide_.allows(token);
}

BoundAnswer::Part BoundAnswer::part_of(int32_t token) {
    if (voices_.voice() == Voice::Thought) return Part::Thought;
    if (!mark_.empty()) return Part::Mark;
    if (voices_.begun() || tokenizer_.ends_generation(token)) return Part::Answer;
    const std::string_view text = marked(token);
    const bool of_mark = std::ranges::binary_search(of_marks_, token);
    if (!of_mark && guide_.allows(token)) return Part::Answer;
    if (!text.empty() && goes_on(text)) return Part::Mark;
    return behind_ && is_white_space(text) ? Part::Space : Part::Answer;
}

void BoundAnswer::accept(int32_t token) {
    const std::string_view text = marked(token);
    Part part = part_of(token);
    // What ends a thought need not have been the model's choice, and may be more of it.
    if (part == Part::Answer && !voices_.begun() && is_white_space(text) && !guide_.allows(token))
        part = Part::Space;
    if (part == Part::Answer) guide_.accept(token);
    if (part == Part::Mark) {
        mark_ += text;
        const bool whole =
            std::ranges::any_of(marks_, [&](const Mark& mark) { return mark.text == mark_; });
        if (whole) mark_.clear();
    }
    if (!marks_.empty()) voices_.push(text);
    behind_ = part == Part::Thought && voices_.voice() == Voice::Answer;
}

void BoundAnswer::forbid(std::span<float> logits) {
    if (answers()) {
        guide_.forbid(logits);
        for (const int32_t token : of_marks_)
            if (size_t(token) < logits.size()) logits[size_t(token)] = -INFINITY;
        return;
    }
    for (size_t id = 0; id < logits.size(); ++id)
        if (!allows(int32_t(id))) logits[id] = -INFINITY;
}

}  // namespace tandem::model
