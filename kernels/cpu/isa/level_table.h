// Tables of levels, of which every byte of a vector picks one by its number.
#pragma once

#include <array>

#include "kernels/cpu/isa/simd.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// 64 levels, or some again and again: an array of which nothing is called when kernels run.
struct LevelArray {
    alignas(64) int8_t level[64];
};
// The first `used`, all moved up.
template <size_t size>
constexpr LevelArray level_array(const std::array<int8_t, size>& levels, int used, int up = 0) {
    LevelArray all = {};
    for (int i = 0; i < 64; ++i) all.level[i] = int8_t(levels[size_t(i % used)] + up);
    return all;
}

#if defined(__AVX512VBMI__)

// 32 or 64 in one register.
template <int count>
class LevelTable {
  public:
    explicit LevelTable(const LevelArray& levels)
        : table_(load(reinterpret_cast<const uint8_t*>(levels.level))) {}
    [[gnu::always_inline]] I operator[](I numbers) const { return lookup64(table_, numbers); }

  private:
    I table_;
};

#else

// Parts of 16, which all are looked up.
template <int count>
class LevelTable {
  public:
    explicit LevelTable(const LevelArray& levels) {
        for (int i = 0; i < count / 16; ++i) parts_[i] = table16(levels.level + 16 * i);
    }
    [[gnu::always_inline]] I operator[](I numbers) const {
        const I index = bit_and(numbers, splat_bytes(15));
        const I low = of_two(0, index, numbers);
        return count == 32 ? low : select_bit(numbers, 5, of_two(2, index, numbers), low);
    }

  private:
    [[gnu::always_inline]] I of_two(int first, I index, I numbers) const {
        if (first >= count / 16) return index;
        return select_bit(numbers, 4, lookup(parts_[first + 1], index),
                          lookup(parts_[first], index));
    }

    decltype(table16(nullptr)) parts_[count / 16];
};

#endif

}  // namespace tandem::kernels::cpu::TANDEM_ISA
