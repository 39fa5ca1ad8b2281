// Groups of floating point weights, plain or short (short_bf16.h), as kernels read them.
#pragma once

#include <cstring>

#include "kernels/cpu/isa/prefetch.h"
#include "kernels/cpu/isa/simd.h"
#include "kernels/cpu/short_bf16.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// Weights of the first and of the second column of pairs of bf16.
[[gnu::always_inline]] inline F first_of(I pairs) { return as_float(shift_left(pairs, 16)); }
[[gnu::always_inline]] inline F second_of(I pairs) {
    return as_float(bit_and(pairs, splat(int32_t(0xffff0000))));
}

// As FloatGroup::lengthen() makes them.
struct Lengthened {
    static constexpr int bytes = 4;
    static F get(const uint8_t* p) { return load_f32(p); }
};

class FloatGroup {
  public:
    explicit FloatGroup(const uint8_t* group)
        : head_(*reinterpret_cast<const FloatHead*>(group)), group_(group) {}

    bool is_short() const { return head_.is_short(); }
    int64_t next() const { return head_.next; }  // in bytes from this one
    // Where a column stands whose weights have so many bytes; of a short group the first of 8.
    const uint8_t* at(int64_t column, int bytes) const {
        return is_short() ? short_at(column) : group_ + head_.plain_at + column * bytes * lanes;
    }
    const uint8_t* short_at(int64_t column) const {
        return group_ + sizeof head_ + short_bytes(lanes, column);
    }
    const OtherWeight* others() const {
        return reinterpret_cast<const OtherWeight*>(group_ + head_.others_at);
    }
    const OtherWeight* others_end() const { return others() + head_.others; }

    // Calls visit(n, pairs) for each two of 8 columns of a short group that stand at `at`: lane r
    // of pairs has the weights of row r and columns 2 n and 2 n + 1.
    template <typename Visit>
    [[gnu::always_inline]] void each_two(const uint8_t* at, Visit visit) const {
        const auto table = table16(reinterpret_cast<const int8_t*>(head_.upper));
        const I codes = load(at);
        for (int half = 0; half < 2; ++half) {
            const I low = load(at + (1 + half) * 4 * lanes);
            const I upper =
                lookup(table, bit_and(half == 0 ? codes : shift_right(codes, 4), splat_bytes(15)));
            visit(2 * half, first_in_turn(low, upper));
            visit(2 * half + 1, last_in_turn(low, upper));
        }
    }

    // Some columns of a short group as f32 [count][lanes]; they begin and end at multiples of 8.
    void lengthen(int64_t column, int64_t count, float* to) const {
        for (int64_t k = 0; k < count; k += short_columns)
            each_two(short_at(column + k), [&](int n, I pairs) {
                store(to + (k + 2 * n) * lanes, first_of(pairs));
                store(to + (k + 2 * n + 1) * lanes, second_of(pairs));
            });
        each_other(column, count, [&](int64_t place, float weight) { to[place] = weight; });
    }

    // 32 of them as pairs, bf16 [16 pairs of columns][lanes][2]; zeros behind the last column.
    void store_pairs(int64_t column, int64_t count, uint8_t* to) const {
        for (int64_t k = 0; k < 32; k += short_columns) {
            uint8_t* const pair = to + 2 * k * lanes;
            if (k >= count) {
                for (int n = 0; n < 4; ++n) store(pair + 4 * n * lanes, splat(0));
                continue;
            }
            const uint8_t* const from = short_at(column + k);
            for (int64_t line = 0; line < short_bytes(lanes, short_columns); line += 64)
                prefetch_unpacked(from + line);
            each_two(from, [&](int n, I pairs) { store(pair + 4 * n * lanes, pairs); });
        }
        each_other(column, count, [&](int64_t place, const float& weight) {
            const int64_t k = place / lanes;
            std::memcpy(to + (k / 2 * lanes + place % lanes) * 4 + k % 2 * 2,
                        reinterpret_cast<const uint8_t*>(&weight) + 2, 2);
        });
    }

  private:
    // Calls visit(place, weight) for the others among some columns, which places count from.
    template <typename Visit>
    void each_other(int64_t column, int64_t count, Visit visit) const {
        for (const OtherWeight* other = others_from(column);
             other < others_end() && other->place < (column + count) * lanes; ++other)
            visit(other->place - column * lanes, other->value);
    }
    // The first one from that column on.
    const OtherWeight* others_from(int64_t column) const {
        const OtherWeight *first = others(), *last = others_end();
        while (first < last) {
            const OtherWeight* const middle = first + (last - first) / 2;
            if (middle->place < column * lanes)
                first = middle + 1;
            else
                last = middle;
        }
        return first;
    }

    const FloatHead& head_;
    const uint8_t* group_;
};

}  // namespace tandem::kernels::cpu::TANDEM_ISA
