#include "model/chat/thoughts.h"

#include <algorithm>

namespace tandem::model {

namespace {

constexpr std::string_view spaces = " \t\n\v\f\r";

constexpr Mark think[] = {{"<think>", Voice::Thought}, {"</think>", Voice::Answer}};
constexpr Mark think_in_brackets[] = {{"[THINK]", Voice::Thought}, {"[/THINK]", Voice::Answer}};
// Harmony has channels; messages to other channels than the final one are no answers.
constexpr Mark channels[] = {{"<|start|>assistant", Voice::Answer, true},
                             {"<|channel|>analysis<|message|>", Voice::Thought, true},
                             {"<|channel|>commentary<|message|>", Voice::Thought, true},
                             {"<|channel|>final<|message|>", Voice::Answer, true},
                             {"<|end|>", Voice::Answer, true}};
constexpr Mark thought_channel[] = {{"<|channel>thought", Voice::Thought},
                                    {"<channel|>", Voice::Answer}};
constexpr Mark seed[] = {{"<seed:think>", Voice::Thought}, {"</seed:think>", Voice::Answer}};
constexpr Mark opensource[] = {{"<think:opensource>", Voice::Thought},
                               {"</think:opensource>", Voice::Answer}};

constexpr std::span<const Mark> families[] = {channels, thought_channel, think_in_brackets,
                                              seed,     opensource,      think};

// How much of the end of a text may be the beginning of a mark.
size_t begun_at_end(std::string_view text, std::string_view mark) {
    for (size_t length = std::min(text.size(), mark.size() - 1); length > 0; --length)
        if (text.ends_with(mark.substr(0, length))) return length;
    return 0;
}

}  // namespace

std::span<const Mark> marks_of(std::string_view chat_template) {
    for (const std::span<const Mark> family : families) {
        const bool all = std::ranges::any_of(family, [&](const Mark& mark) {
            return mark.next == Voice::Thought &&
                   chat_template.find(mark.text) != chat_template.npos;
        });
        if (all) return family;
    }
    return {};
}

std::string end_of_thoughts(std::span<const Mark> marks) {
    if (marks.data() == channels) return "<|end|><|start|>assistant<|channel|>final<|message|>";
    const auto end = std::ranges::find(marks, Voice::Answer, &Mark::next);
    return end == marks.end() ? "" : std::string(end->text);
}

Voices::Voices(std::span<const Mark> marks, std::string_view prompt) : marks_(marks) {
    const size_t last = prompt.find_last_not_of(spaces);
    prompt = prompt.substr(0, last == prompt.npos ? 0 : last + 1);
    for (const Mark& mark : marks)
        if (prompt.ends_with(mark.text)) voice_ = mark.next;
}

void Voices::take(std::string_view text, std::vector<Part>& parts) {
    if (!begun_) text.remove_prefix(std::min(text.find_first_not_of(spaces), text.size()));
    if (text.empty()) return;
    bool& has_said = has_said_[voice_ == Voice::Thought];
    if (!begun_ && has_said) white_space_ = "\n\n";
    begun_ = has_said = true;
    const size_t last = text.find_last_not_of(spaces);
    const size_t length = last == text.npos ? 0 : last + 1;
    if (length == 0) {
        white_space_ += text;
        return;
    }
    parts.push_back({voice_, white_space_ + std::string(text.substr(0, length))});
    white_space_ = text.substr(length);
}

size_t Voices::find(const Mark& mark) const {
    const size_t at = pending_.find(mark.text);
    if (mark.anywhere || at == pending_.npos) return at;
    const bool opens = mark.next == Voice::Thought && voice_ == Voice::Answer && !begun_ &&
                       pending_.find_first_not_of(spaces) == at;
    const bool closes = mark.next == Voice::Answer && voice_ == Voice::Thought;
    return opens || closes ? at : pending_.npos;
}

std::vector<Voices::Part> Voices::push(std::string_view piece) {
    std::vector<Part> parts;
    pending_ += piece;
    while (true) {
        const Mark* first = nullptr;
        size_t at = pending_.npos;
        for (const Mark& mark : marks_)
            if (const size_t found = find(mark); found < at) first = &mark, at = found;
        if (!first) break;
        take(std::string_view(pending_).substr(0, at), parts);
        pending_.erase(0, at + first->text.size());
        if (voice_ != first->next) {
            voice_ = first->next;
            begun_ = false;
            white_space_.clear();
        }
    }
    size_t kept = 0;
    for (const Mark& mark : marks_) kept = std::max(kept, begun_at_end(pending_, mark.text));
    take(std::string_view(pending_).substr(0, pending_.size() - kept), parts);
    pending_.erase(0, pending_.size() - kept);
    return parts;
}

std::vector<Voices::Part> Voices::flush() {
    std::vector<Part> parts;
    take(pending_, parts);
    pending_.clear();
    white_space_.clear();
    return parts;
}

}  // namespace tandem::model
