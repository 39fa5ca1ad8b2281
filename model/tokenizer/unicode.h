// General categories of code points, Unicode 15.1.
#pragma once

#include <cstdint>
#include <span>

namespace tandem::model {

// The two-letter names of the standard; Cn is "not assigned".
enum class Category : uint8_t {
    // clang-format off
    Lu, Ll, Lt, Lm, Lo, Mn, Mc, Me, Nd, Nl, No, Pc, Pd, Ps, Pe, Pi, Pf, Po, Sm, Sc, Sk, So,
    Zs, Zl, Zp, Cc, Cf, Cs, Co, Cn
    // clang-format on
};

struct CategoryRange {
    char32_t first;  // the range ends where the next one begins
    Category category;
};

// All code points, in order; generated (unicode_table.cpp).
extern const std::span<const CategoryRange> category_ranges;

Category general_category(char32_t code);

// White_Space of the standard, which is what \s means in the splitting expressions.
constexpr bool is_space(char32_t code) {
    return (code >= 0x9 && code <= 0xD) || code == 0x20 || code == 0x85 || code == 0xA0 ||
           code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 ||
           code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

}  // namespace tandem::model
