// Where the numbers of a block stand, for the types that the product reads only: enough to write
// them. What the numbers mean is learned from the decoder (encode.h).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "gguf/dtype.h"

namespace tandem::test {

// A number is taken apart, the lowest digit first, each the remainder by `count`; their `step`s add
// up.
struct Digit {
    uint32_t count = UINT32_MAX, step = 1;
};
using Digits = std::array<Digit, 4>;
uint32_t place(const Digits& digits, uint32_t number);

// Numbers of the same bits: bit b of number i is bit at + place(bits i + b) of a block.
struct Field {
    uint32_t bits = 0, at = 0;
    Digits digits{};
};
void put(const Field& field, uint32_t index, uint32_t number, uint8_t* block);

// The lowest bits are in the first field.
using Fields = std::vector<Field>;
uint32_t count(const Fields& fields);  // how many numbers they can hold
void put(const Fields& fields, uint32_t index, uint32_t number, uint8_t* block);

struct Format {
    gguf::DType dtype;
    uint32_t group;     // elements that share a scale
    uint32_t unit;      // elements that share a code
    Fields codes{};     // one for each unit
    Fields scales{};    // one for each group
    Field variants{};   // one bit for each group, which chooses what its codes mean
    Field signs{};      // one bit for each element, or seven for eight, an even number of them set
    Field base{16, 0};  // f16, what scales count in; of rows with a header, it is that
    Digits order{};     // the place of an element, unit by unit
};

std::span<const Format> formats();

}  // namespace tandem::test
