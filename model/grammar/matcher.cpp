#include "model/grammar/matcher.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "gguf/error.h"

namespace tandem::model::grammar {

namespace {

using Kind = Instruction::Kind;

constexpr size_t least_items = 1 << 14;  // of a step are taken in any grammar
constexpr size_t least_kept = 4 << 20;   // numbers; at first as many are kept

// Nodes of the step that is being made have the numbers of their rules, negated.
uint64_t item(int32_t state, int32_t node) { return uint64_t(state) << 32 | uint32_t(node); }
int32_t state_of(uint64_t item) { return int32_t(item >> 32); }
int32_t node_of(uint64_t item) { return int32_t(uint32_t(item)); }
int32_t open_node(int32_t rule) { return -1 - rule; }
int32_t rule_of(int32_t open_node) { return -1 - open_node; }

void sort_once(Lists::List& list) {
    std::ranges::sort(list);
    list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace

Matcher::Matcher(Grammar grammar)
    : grammar_(std::move(grammar)),
      most_items_(std::max(least_items, 2 * size_t(grammar_.states()))),
      most_kept_(least_kept),
      returns_(size_t(grammar_.rules())),
      settled_(size_t(grammar_.rules())) {
    add_readings({});
    nodes_.add({});
    const int32_t root = grammar_.root();
    const int32_t below = nodes_.add({item(Grammar::end, 0)});
    std::vector<uint64_t> work{item(grammar_.first(root), below)};
    if (grammar_.matches_nothing(root)) work.push_back(item(Grammar::end, 0));
    start_ = close(std::move(work));
}

int32_t Matcher::add_readings(Lists::List items) {
    const int32_t readings = readings_.add(std::move(items));
    steps_.resize(readings_.size() * size_t(grammar_.classes()), unknown);
    return readings;
}

int32_t Matcher::step(int32_t readings, int32_t character_class) {
    const size_t at = size_t(readings) * size_t(grammar_.classes()) + size_t(character_class);
    if (steps_[at] != unknown) return steps_[at];
    std::vector<uint64_t> work;
    for (const uint64_t each : readings_[readings]) {
        const Instruction& state = grammar_[state_of(each)];
        if (state.kind == Kind::Character && grammar_.has(state.index, character_class))
            work.push_back(item(state.next, node_of(each)));
    }
    const int32_t next = work.empty() ? none : close(std::move(work));
    steps_[at] = next;
    return next;
}

// Follows all that takes no character. A rule that was called in this step has not ended in it but
// by matching nothing, which its callers know: its returns may still become more.
int32_t Matcher::close(std::vector<uint64_t> work) {
    std::unordered_set<uint64_t> seen;
    std::vector<int32_t> called;
    Lists::List items;
    while (!work.empty()) {
        const uint64_t each = work.back();
        work.pop_back();
        const int32_t number = state_of(each), node = node_of(each);
        if (!grammar_.is_live(number) || !seen.insert(each).second) continue;
        if (seen.size() > most_items_) {
            for (const int32_t rule : called) returns_[size_t(rule)].clear();
            throw Error("the grammar is too ambiguous: the text can be read in too many ways");
        }
        const Instruction& state = grammar_[number];
        switch (state.kind) {
            case Kind::Character:
            case Kind::End:
                items.push_back(each);
                break;
            case Kind::Fork:
                work.push_back(item(state.next, node));
                work.push_back(item(state.index, node));
                break;
            case Kind::Call: {
                Lists::List& returns = returns_[size_t(state.index)];
                if (returns.empty()) {
                    called.push_back(state.index);
                    work.push_back(item(grammar_.first(state.index), open_node(state.index)));
                }
                returns.push_back(item(state.next, node));
                if (grammar_.matches_nothing(state.index)) work.push_back(item(state.next, node));
                break;
            }
            case Kind::Return:
                if (node >= 0) {
                    const auto returns = nodes_[node];
                    work.insert(work.end(), returns.begin(), returns.end());
                }
                break;
        }
    }
    std::ranges::sort(called, {}, [&](int32_t rule) { return grammar_.rank_of(rule); });
    for (const int32_t rule : called) settle(rule);
    for (uint64_t& each : items)
        if (const int32_t node = node_of(each); node < 0)
            each = item(state_of(each), settled_[size_t(rule_of(node))]);
    sort_once(items);
    return add_readings(std::move(items));
}

void Matcher::settle(int32_t rule) {
    Lists::List list;
    for (const uint64_t each : std::exchange(returns_[size_t(rule)], {})) {
        int32_t node = node_of(each);
        if (node < 0) node = settled_[size_t(rule_of(node))];
        if (grammar_[state_of(each)].kind == Kind::Return) {
            // Nothing is left to do there: what is below is returned to at once, so that lists
            // written as a rule that ends with itself do not pile up.
            const auto below = nodes_[node];
            list.insert(list.end(), below.begin(), below.end());
        } else {
            list.push_back(item(state_of(each), node));
        }
    }
    sort_once(list);
    settled_[size_t(rule)] = nodes_.add(std::move(list));
}

bool Matcher::push(Position& position, uint8_t byte) {
    if (!position.partial.push(byte)) return false;
    if (position.partial.left > 0) return true;
    position.readings = step(position.readings, grammar_.class_of(position.partial.code));
    return position.readings != none;
}

bool Matcher::goes_on(const Position& position) {
    if (position.partial.left == 0) return position.readings != none;
    const Range range = position.partial.range();
    const int32_t last = grammar_.class_of(range.last);
    for (int32_t each = grammar_.class_of(range.first); each <= last; ++each)
        if (step(position.readings, each) != none) return true;
    return false;
}

bool Matcher::can_end(const Position& position) const {
    const auto items = readings_[position.readings];
    return position.partial.left == 0 && !items.empty() && state_of(items[0]) == Grammar::end;
}

bool Matcher::must_end(const Position& position) const {
    return can_end(position) && readings_[position.readings].size() == 1;
}

void Matcher::tidy(std::span<Position> positions) {
    if (kept() < most_kept_) return;
    // Nodes are older than those that lead to them.
    std::vector<bool> live(nodes_.size());
    live[0] = true;
    const auto mark = [&](std::span<const uint64_t> items) {
        for (const uint64_t each : items) live[size_t(node_of(each))] = true;
    };
    mark(readings_[start_]);
    for (const Position& position : positions) mark(readings_[position.readings]);
    for (size_t i = nodes_.size(); i-- > 0;)
        if (live[i]) mark(nodes_[int32_t(i)]);
    Lists nodes, readings;
    std::vector<int32_t> moved(nodes_.size());
    const auto move = [&](std::span<const uint64_t> items) {
        Lists::List list;
        for (const uint64_t each : items)
            list.push_back(item(state_of(each), moved[size_t(node_of(each))]));
        std::ranges::sort(list);
        return list;
    };
    for (size_t i = 0; i < nodes_.size(); ++i)
        if (live[i]) moved[i] = nodes.add(move(nodes_[int32_t(i)]));
    readings.add({});
    const auto kept_number = [&](int32_t number) { return readings.add(move(readings_[number])); };
    start_ = kept_number(start_);
    for (Position& position : positions) position.readings = kept_number(position.readings);
    nodes_ = std::move(nodes);
    readings_ = std::move(readings);
    steps_.assign(readings_.size() * size_t(grammar_.classes()), unknown);
    most_kept_ = std::max(least_kept, 2 * kept());
}

}  // namespace tandem::model::grammar
