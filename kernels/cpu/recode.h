// Types whose codes are kept otherwise than in the file, so that products take few steps for them:
//
//     Q2_0     d; 2 times: codes [8], as join_bits.h joins 2 bits
//     TQ2_0    twice: d; 4 times: codes [8]. Prompts read half a block at a time
//     TQ1_0    as TQ2_0: five digits of base 3 in a byte become 2 bits each (1.26 times the bytes)
//     IQ4_KSS  as IQ4_KS: words of 15 bits, whose Gray codes are the codes, and a bit of scale
//              each become 16 bits and the scale
//     IQ2_KL   R, high bits of scales [2], low bits [4];
//              8 times: codes of pairs [8], their fifth bits [2], so that those of a quad of
//              elements are the same places of the lower and the upper half of a word
//     IQ1_KT   R, scales with top bits of seeds [8];
//              8 times: low bytes of seeds [4], 4 bits above [2]: those of the first two in the
//              low nibbles
//     IQ4_KT   R; 8 times: scale with top bits of seeds [4], low bytes [8], 4 bits above [4]: those
//              of the first four in the low nibbles
//
// The file's codes can be made of them again, of TQ1_0 codes of the same digits.
#pragma once

#include <cstdint>
#include <span>

#include "gguf/dtype.h"

namespace tandem::kernels::cpu {

// A block of the file behind the scale of its row, where there is one, and a packed block.
struct Recoding {
    void (*from_file)(const uint8_t* block, uint8_t* packed) = nullptr;
    // The bytes of the block are zeros.
    void (*to_file)(const uint8_t* packed, uint8_t* block) = nullptr;
};
struct RecodingOfType {
    gguf::DType dtype;
    Recoding recoding;
};
// Null for types that have none there.
inline const Recoding* find(std::span<const RecodingOfType> types, gguf::DType dtype) {
    for (const RecodingOfType& type : types)
        if (type.dtype == dtype) return &type.recoding;
    return nullptr;
}
// Of the types above; null for all others.
const Recoding* recoding(gguf::DType dtype);

}  // namespace tandem::kernels::cpu
