// Merging: neighbouring symbols are joined, the best pair of all first, until no pair can be
// joined. Byte-pair encoding and SentencePiece differ only in which pairs join and which is the
// best.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace tandem::model {

// A stretch of the text being merged. The id is the owner's: what it knows the symbol by.
struct Symbol {
    size_t begin;
    size_t length;  // in bytes
    int32_t id;
};

// What two symbols join to. The lowest rank is the best; of equals the leftmost.
struct Joint {
    uint32_t rank;
    int32_t id;
};
using FindJoint = std::function<std::optional<Joint>(const Symbol& left, const Symbol& right)>;

// `symbols` lie side by side. Takes n log n steps for n symbols.
void merge(std::vector<Symbol>& symbols, const FindJoint& find);

}  // namespace tandem::model
