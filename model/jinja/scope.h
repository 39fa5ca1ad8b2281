// Variables, and the scopes that loops, macros and blocks open inside of one another.
#pragma once

#include <deque>
#include <utility>
#include <vector>

#include "model/jinja/value.h"

namespace tandem::model::jinja {

struct Scope {
    Scope* parent = nullptr;
    std::vector<std::pair<int, Value>> variables;
    // A macro was defined here, and sees the scope for as long as it is there itself.
    bool kept = false;

    const Value* find(int id) const;
    bool holds(int id) const;  // itself
    void set(int id, const Value& value);
};

class Scopes {
  public:
    Scope* open(Scope* parent);
    void close(Scope* scope);
    // An empty one for the next round of a loop: the same one, if nobody keeps it.
    Scope* renew(Scope* scope);
    static void keep(Scope* scope);

  private:
    std::deque<Scope> scopes_;
    std::vector<Scope*> free_;
};

}  // namespace tandem::model::jinja
