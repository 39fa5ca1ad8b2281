#include "model/grammar/grammar.h"

#include <algorithm>

#include "gguf/error.h"
#include "gguf/fault.h"

namespace tandem::model::grammar {

namespace {

constexpr int64_t most_states = 1 << 20;
constexpr int64_t most_members = 1 << 28;  // sets times classes

}  // namespace

Grammar::Grammar(std::string_view text, const std::string& source) : source_(source) {
    const Syntax syntax = parse(text, source);
    root_ = syntax.root;
    divide(syntax.sets);
    add({.kind = Instruction::Kind::End});
    for (const Rule& rule : syntax.rules)
        first_.push_back(compile(rule.body, add({.kind = Instruction::Kind::Return})));
    live_ = ending(true);
    const std::vector<bool> at_end = ending(false);
    for (const int32_t first : first_) nullable_.push_back(at_end[size_t(first)]);
    rank(syntax);
    if (!is_live(first(root_)))
        throw Error(source_ +
                    ": no text ends the rule \"root\": what it is made of goes on forever");
}

int32_t Grammar::add(Instruction state) {
    if (int64_t(states_.size()) == most_states)
        throw Error(source_ +
                    ": the grammar is too large: with its repetitions written out, it has "
                    "more than a million symbols");
    states_.push_back(state);
    return int32_t(states_.size()) - 1;
}

// The state from which the expression leads to `next`.
int32_t Grammar::compile(const Expression& expression, int32_t next) {
    // Parts that match nothing need no states, and time all the same.
    if (++work_ > 4 * most_states)
        throw Error(source_ + ": the grammar is too large: its repetitions are too many");
    const std::vector<Expression>& parts = expression.parts;
    switch (expression.kind) {
        case Expression::Kind::Characters:
            return add({Instruction::Kind::Character, next, expression.index});
        case Expression::Kind::Reference:
            return add({Instruction::Kind::Call, next, expression.index});
        case Expression::Kind::Sequence:
            for (auto part = parts.rbegin(); part != parts.rend(); ++part)
                next = compile(*part, next);
            return next;
        case Expression::Kind::Choice: {
            int32_t others = compile(parts.back(), next);
            for (auto part = parts.rbegin() + 1; part != parts.rend(); ++part)
                others = add({Instruction::Kind::Fork, compile(*part, next), others});
            return others;
        }
        case Expression::Kind::Repeat:
            return compile_repeat(expression, next);
    }
    return next;
}

int32_t Grammar::compile_repeat(const Expression& expression, int32_t next) {
    const Expression& part = expression.parts[0];
    int32_t state = next;
    if (expression.most == Expression::endless) {
        state = add({Instruction::Kind::Fork, next, next});
        const int32_t again = compile(part, state);
        states_[size_t(state)].next = again;
    } else {
        for (int32_t i = expression.least; i < expression.most; ++i)
            state = add({Instruction::Kind::Fork, compile(part, state), next});
    }
    for (int32_t i = 0; i < expression.least; ++i) state = compile(part, state);
    return state;
}

// Into classes, so that each is all in a set or all outside.
void Grammar::divide(const std::vector<CharacterSet>& sets) {
    begins_ = {0};
    for (const CharacterSet& set : sets)
        for (const Range& range : set.ranges()) {
            begins_.push_back(range.first);
            if (range.last < last_character) begins_.push_back(range.last + 1);
        }
    std::ranges::sort(begins_);
    begins_.erase(std::unique(begins_.begin(), begins_.end()), begins_.end());
    if (int64_t(sets.size()) * classes() > most_members)
        throw Error(source_ + ": the grammar is too large: it has too many different characters");
    for (char32_t code = 0; code < ascii_.size(); ++code) ascii_[code] = find_class(code);
    members_.resize(sets.size() * begins_.size());
    for (size_t set = 0; set < sets.size(); ++set)
        for (const Range& range : sets[set].ranges())
            for (int32_t i = class_of(range.first), last = class_of(range.last); i <= last; ++i)
                members_[set * begins_.size() + size_t(i)] = true;
}

int32_t Grammar::find_class(char32_t code) const {
    return int32_t(std::ranges::upper_bound(begins_, code) - begins_.begin()) - 1;
}

std::vector<bool> Grammar::ending(bool with_characters) const {
    using Kind = Instruction::Kind;
    // Backwards from the ends, each state once. A call waits for the end of its rule, too.
    std::vector<std::vector<int32_t>> before(states_.size());
    for (size_t i = 0; i < states_.size(); ++i) {
        const auto& [kind, next, index] = states_[i];
        if (kind == Kind::Fork) before[size_t(index)].push_back(int32_t(i));
        if (kind == Kind::Call) before[size_t(first(index))].push_back(int32_t(i));
        if (kind != Kind::Return && kind != Kind::End) before[size_t(next)].push_back(int32_t(i));
    }
    std::vector<bool> found(states_.size());
    std::vector<int32_t> work;
    const auto consider = [&](int32_t state) {
        const auto& [kind, next, index] = states_[size_t(state)];
        const auto has = [&](int32_t other) { return bool(found[size_t(other)]); };
        const bool ends = kind == Kind::Return || kind == Kind::End ||
                          (kind == Kind::Character && with_characters && has(next)) ||
                          (kind == Kind::Call && has(next) && has(first(index))) ||
                          (kind == Kind::Fork && (has(next) || has(index)));
        if (!ends || has(state)) return;
        found[size_t(state)] = true;
        work.push_back(state);
    };
    for (size_t i = 0; i < states_.size(); ++i)
        if (states_[i].kind == Kind::Return || states_[i].kind == Kind::End) consider(int32_t(i));
    while (!work.empty()) {
        const int32_t state = work.back();
        work.pop_back();
        for (const int32_t other : before[size_t(state)]) consider(other);
    }
    return found;
}

std::vector<int32_t> Grammar::beginnings(int32_t rule, std::vector<bool>& visited) const {
    std::vector<int32_t> called, work{first(rule)};
    while (!work.empty()) {
        const int32_t state = work.back();
        work.pop_back();
        if (visited[size_t(state)]) continue;
        visited[size_t(state)] = true;
        const auto& [kind, next, index] = states_[size_t(state)];
        if (kind == Instruction::Kind::Fork) work.insert(work.end(), {next, index});
        if (kind != Instruction::Kind::Call) continue;
        called.push_back(index);
        if (matches_nothing(index)) work.push_back(next);
    }
    return called;
}

void Grammar::rank(const Syntax& syntax) {
    const size_t count = first_.size();
    std::vector<bool> visited(states_.size());
    std::vector<std::vector<int32_t>> called(count), callers(count);
    for (size_t rule = 0; rule < count; ++rule) {
        called[rule] = beginnings(int32_t(rule), visited);
        for (const int32_t other : called[rule]) callers[size_t(other)].push_back(int32_t(rule));
    }
    std::vector<size_t> waiting(count);  // for so many callers
    std::vector<int32_t> ready;
    for (size_t rule = 0; rule < count; ++rule) {
        waiting[rule] = callers[rule].size();
        if (waiting[rule] == 0) ready.push_back(int32_t(rule));
    }
    ranks_.resize(count);
    for (size_t done = 0; done < ready.size(); ++done) {
        const auto rule = size_t(ready[done]);
        ranks_[rule] = int32_t(done);
        for (const int32_t other : called[rule])
            if (--waiting[size_t(other)] == 0) ready.push_back(other);
    }
    if (ready.size() == count) return;
    // Who still waits has a caller who does, and so on, until one comes again.
    auto rule = size_t(std::ranges::find_if(waiting, [](size_t callers) { return callers > 0; }) -
                       waiting.begin());
    std::vector<bool> passed(count);
    size_t callee = rule;
    while (!passed[rule]) {
        passed[rule] = true;
        callee = rule;
        rule = size_t(*std::ranges::find_if(
            callers[rule], [&](int32_t caller) { return waiting[size_t(caller)] > 0; }));
    }
    const auto name = [&](size_t index) { return gguf::in_quotes(syntax.rules[index].name); };
    throw Error(source_ + ": line " + std::to_string(syntax.rules[rule].line) + ": the rule " +
                name(rule) + " begins with itself" +
                (callee == rule ? "" : ", by way of " + name(callee)) +
                "; what comes again and again can be written with * and +");
}

}  // namespace tandem::model::grammar
