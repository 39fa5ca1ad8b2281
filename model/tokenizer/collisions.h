// How far the entries of a hash table with open addressing lie from where they are looked for
// first.
#pragma once

#include <cstddef>

namespace tandem::model {

class Collisions {
  public:
    // Counts the slots that an entry passes by, of a table whose size is a power of two. False
    // where entries meet in so few places that somebody chose them: adding them all would take
    // minutes.
    [[nodiscard]] bool add(size_t home, size_t slot, size_t slots) {
        passed_ += (slot - home) & (slots - 1);
        return passed_ <= most_passed * slots;
    }

  private:
    // For each slot of the table. Published lists and vocabularies stay below one.
    static constexpr size_t most_passed = 16;
    size_t passed_ = 0;
};

}  // namespace tandem::model
