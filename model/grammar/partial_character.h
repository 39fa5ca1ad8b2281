// A character whose bytes in UTF-8 come one by one, as tokens may divide it.
#pragma once

#include <cstdint>

#include "model/grammar/character_set.h"

namespace tandem::model::grammar {

struct PartialCharacter {
    char32_t code = 0;            // the bits so far
    uint8_t left = 0;             // bytes that are to come; 0: none has begun
    uint8_t least = 0, most = 0;  // which may come next

    // False where no character has that byte here. (Unicode 15.1, table 3-7)
    bool push(uint8_t byte) {
        if (left > 0) {
            if (byte < least || byte > most) return false;
            *this = {code << 6 | (byte & 0x3Fu), uint8_t(left - 1), 0x80, 0xBF};
        } else if (byte < 0x80) {
            code = byte;
        } else if (byte >= 0xC2 && byte <= 0xDF) {
            *this = {byte & 0x1Fu, 1, 0x80, 0xBF};
        } else if (byte >= 0xE0 && byte <= 0xEF) {
            *this = {byte & 0x0Fu, 2, uint8_t(byte == 0xE0 ? 0xA0 : 0x80),
                     uint8_t(byte == 0xED ? 0x9F : 0xBF)};
        } else if (byte >= 0xF0 && byte <= 0xF4) {
            *this = {byte & 0x07u, 3, uint8_t(byte == 0xF0 ? 0x90 : 0x80),
                     uint8_t(byte == 0xF4 ? 0x8F : 0xBF)};
        } else {
            return false;
        }
        return true;
    }

    // The characters that it may become, while bytes are left.
    Range range() const {
        const auto with = [&](uint8_t next, char32_t rest) {
            return (code << 6 | (next & 0x3Fu)) << 6 * (left - 1) | rest;
        };
        return {with(least, 0), with(most, (char32_t(1) << 6 * (left - 1)) - 1)};
    }
};

}  // namespace tandem::model::grammar
