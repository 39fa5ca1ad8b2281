// A grammar made ready for matching: every rule an automaton over classes of characters, which no
// set of the grammar tells apart, and over calls of rules.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/grammar/syntax.h"

namespace tandem::model::grammar {

// A state of an automaton.
struct Instruction {
    enum class Kind : uint8_t {
        Character,  // one of the set `index`, then `next`
        Call,       // what rule `index` stands for, then `next`
        Fork,       // `next` or `index`
        Return,     // a rule has been matched
        End         // the root has
    };
    Kind kind = Kind::Return;
    int32_t next = 0, index = 0;
};

class Grammar {
  public:
    // Reads GBNF (syntax.h). Throws Error, in the name of `source`, where it is no such text, where
    // a rule begins with itself, where nothing ends the root rule, and where it is too large.
    explicit Grammar(std::string_view text, const std::string& source = "grammar");

    static constexpr int32_t end = 0;  // the state in which all has been matched
    int32_t root() const { return root_; }
    const Instruction& operator[](int32_t state) const { return states_[size_t(state)]; }
    int32_t states() const { return int32_t(states_.size()); }
    // Whether some text leads from a state to the end of its rule.
    bool is_live(int32_t state) const { return live_[size_t(state)]; }
    int32_t first(int32_t rule) const { return first_[size_t(rule)]; }
    bool matches_nothing(int32_t rule) const { return nullable_[size_t(rule)]; }  // an empty text
    // A rule that begins with others comes before them.
    int32_t rank_of(int32_t rule) const { return ranks_[size_t(rule)]; }
    int32_t rules() const { return int32_t(first_.size()); }

    // Classes are runs of characters, numbered in order.
    int32_t classes() const { return int32_t(begins_.size()); }
    int32_t class_of(char32_t code) const {
        return code < ascii_.size() ? ascii_[code] : find_class(code);
    }
    bool has(int32_t set, int32_t character_class) const {
        return members_[size_t(set) * begins_.size() + size_t(character_class)];
    }

  private:
    int32_t add(Instruction state);
    int32_t compile(const Expression& expression, int32_t next);
    int32_t compile_repeat(const Expression& expression, int32_t next);
    void divide(const std::vector<CharacterSet>& sets);
    int32_t find_class(char32_t code) const;
    // The states from which a rule can be ended, with or without further characters.
    std::vector<bool> ending(bool with_characters) const;
    // Ranks the rules. Throws Error where one begins with itself.
    void rank(const Syntax& syntax);
    // The rules that a rule begins with; each state is visited once.
    std::vector<int32_t> beginnings(int32_t rule, std::vector<bool>& visited) const;

    std::string source_;
    int32_t root_ = 0;
    std::vector<Instruction> states_;
    std::vector<bool> live_, nullable_;
    std::vector<int32_t> first_, ranks_;  // by rule
    std::vector<char32_t> begins_;        // the first characters of the classes
    std::array<int32_t, 128> ascii_{};    // classes
    std::vector<bool> members_;           // [sets classes]
    int64_t work_ = 0;                    // steps of compiling
};

}  // namespace tandem::model::grammar
