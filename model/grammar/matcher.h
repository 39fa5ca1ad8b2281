// Where a text may stand in a grammar, all ways of reading it at once.
//
// A reading is a state with a stack of states to return to. Stacks share what they have in common:
// a node is all that may follow when a rule ends that was called at one place of the text, a list
// of states, each with the node below it (M. Tomita's graph-structured stack, J. Earley's items).
// So a step takes time by the number of states and places, not by that of readings. What has been
// found out is kept, as the same positions come again and again; a text that goes on in a string
// is a look into a table for every character.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/grammar/grammar.h"
#include "model/grammar/lists.h"
#include "model/grammar/partial_character.h"

namespace tandem::model::grammar {

class Matcher {
  public:
    // Behind a text: the readings, by number, and the character that has begun.
    struct Position {
        int32_t readings = 0;
        PartialCharacter partial = {};
    };

    explicit Matcher(Grammar grammar);
    Matcher(Matcher&&) = default;

    Position start() const { return {start_}; }
    // Goes on with a byte. False where the grammar has no such text. Throws Error where there are
    // too many readings.
    bool push(Position& position, uint8_t byte);
    // Whether the character that has begun can become one of the grammar's; true where none has.
    bool goes_on(const Position& position);
    bool can_end(const Position& position) const;   // the text may be all
    bool must_end(const Position& position) const;  // and nothing can follow

    // Forgets all but these positions once much is kept, and renumbers them: others are void then.
    void tidy(std::span<Position> positions);

  private:
    static constexpr int32_t none = 0, unknown = -1;

    int32_t step(int32_t readings, int32_t character_class);
    int32_t close(std::vector<uint64_t> work);
    int32_t add_readings(Lists::List items);
    // The node of a list of returns, of which some lead to nodes of the same step.
    void settle(int32_t rule);
    size_t kept() const { return readings_.total() + nodes_.total() + steps_.size() / 2; }

    Grammar grammar_;
    Lists readings_;              // items: a state, and the node below it
    Lists nodes_;                 // the same, for where a rule returns to
    std::vector<int32_t> steps_;  // [readings classes] of the grammar
    int32_t start_ = 0;
    const size_t most_items_;
    size_t most_kept_;
    // Of one step, by rule: the returns of those called in it, and their nodes.
    std::vector<Lists::List> returns_;
    std::vector<int32_t> settled_;
};

}  // namespace tandem::model::grammar
