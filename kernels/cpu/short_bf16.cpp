#include "kernels/cpu/short_bf16.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>
#include <vector>

#include "gguf/half.h"

namespace tandem::kernels::cpu {

namespace {

// A bit that codes do not have.
constexpr uint8_t no_code = 0x80;
using Codes = std::array<uint8_t, 256>;  // of upper bytes

uint16_t weight_at(const std::byte* weights, int64_t place) {
    uint16_t weight;
    std::memcpy(&weight, weights + 2 * place, 2);
    return weight;
}

// The most frequent upper bytes behind 0. All weights are counted: a byte that a sample misses may
// be that of too many.
void choose_upper(const std::byte* weights, int64_t count, FloatHead& head) {
    // Four counters each: the next weight mostly has the same.
    std::array<std::array<uint32_t, 256>, 4> counts{};
    for (int64_t i = 0; i < count; i += 4)
        for (int64_t n = 0; n < 4; ++n) ++counts[size_t(n)][size_t(weights[2 * (i + n) + 1])];
    for (size_t byte = 0; byte < 256; ++byte)
        counts[0][byte] += counts[1][byte] + counts[2][byte] + counts[3][byte];
    std::array<uint8_t, 255> bytes;
    std::iota(bytes.begin(), bytes.end(), uint8_t(1));
    const auto end = bytes.begin() + std::ssize(head.upper) - 1;
    std::partial_sort(bytes.begin(), end, bytes.end(),
                      [&](uint8_t x, uint8_t y) { return counts[0][x] > counts[0][y]; });
    std::copy(bytes.begin(), end, head.upper + 1);
}

Codes codes_of(const FloatHead& head) {
    Codes codes;
    codes.fill(no_code);
    for (size_t code = 0; code < std::size(head.upper); ++code)
        codes[head.upper[code]] = uint8_t(code);
    return codes;
}

// Codes and lower bytes of 8 columns. False where some weight has no code.
template <int lanes>
bool shorten_columns(const std::byte* weights, const Codes& codes, uint8_t* to) {
    uint8_t all = 0;
    for (int lane = 0; lane < lanes; ++lane)
        for (int column = 0; column < 4; ++column) {
            const int place = short_place(lane, column);
            const uint16_t first = weight_at(weights, column * lanes + lane);
            const uint16_t last = weight_at(weights, (column + 4) * lanes + lane);
            const uint8_t first_code = codes[first >> 8], last_code = codes[last >> 8];
            all |= first_code | last_code;
            to[place] = uint8_t(first_code | last_code << 4);
            to[4 * lanes + place] = uint8_t(first);
            to[8 * lanes + place] = uint8_t(last);
        }
    return all < no_code;
}

// Takes the weights that have no code out of 8 columns, whose first has the place `first`.
void take_others(std::byte* weights, int64_t count, const Codes& codes, int64_t first,
                 std::vector<OtherWeight>& others) {
    for (int64_t i = 0; i < count; ++i) {
        const uint16_t weight = weight_at(weights, i);
        if (codes[weight >> 8] != no_code) continue;
        others.push_back({uint32_t(first + i), std::bit_cast<float>(uint32_t(weight) << 16)});
        std::memset(weights + 2 * i, 0, 2);
    }
}

// `bits` gives those of a number as f32.
template <typename Number, typename Bits>
bool narrow_all(const std::byte* numbers, int64_t count, std::byte* bf16, Bits bits) {
    uint32_t lost = 0;
    for (int64_t i = 0; i < count; ++i) {
        Number number;
        std::memcpy(&number, numbers + i * int64_t(sizeof number), sizeof number);
        const uint32_t f32 = bits(number);
        lost |= f32;
        const auto upper = uint16_t(f32 >> 16);
        std::memcpy(bf16 + 2 * i, &upper, 2);
    }
    return lost << 16 == 0;
}

template <int lanes>
bool shorten_group(int64_t columns, std::byte* bf16, std::byte* to) {
    FloatHead head{.next = short_group_bytes(lanes, columns)};
    choose_upper(bf16, columns * lanes, head);
    const Codes codes = codes_of(head);
    const auto most_others = size_t(columns * lanes / weights_per_other);
    std::vector<OtherWeight> others;
    constexpr int64_t count = short_columns * lanes;
    auto* at = reinterpret_cast<uint8_t*>(to + sizeof head);
    for (int64_t first = 0; first < columns * lanes; first += count) {
        std::byte* const weights = bf16 + 2 * first;
        if (!shorten_columns<lanes>(weights, codes, at)) {
            take_others(weights, count, codes, first, others);
            if (others.size() > most_others) return false;
            shorten_columns<lanes>(weights, codes, at);
        }
        at += short_bytes(lanes, short_columns);
    }
    head.others = uint32_t(others.size());
    head.others_at = uint32_t(at - reinterpret_cast<uint8_t*>(to));
    std::copy(others.begin(), others.end(), reinterpret_cast<OtherWeight*>(at));
    std::memcpy(to, &head, sizeof head);
    return true;
}

}  // namespace

const FloatHead& head_of(const std::byte* group) {
    return *reinterpret_cast<const FloatHead*>(group);
}

bool narrow(gguf::DType dtype, const std::byte* numbers, int64_t count, std::byte* bf16) {
    switch (dtype) {
        case gguf::DType::F32:
            return narrow_all<uint32_t>(numbers, count, bf16, [](uint32_t bits) { return bits; });
        case gguf::DType::F16:
            return narrow_all<uint16_t>(numbers, count, bf16, [](uint16_t bits) {
                return std::bit_cast<uint32_t>(gguf::f16_to_f32(bits));
            });
        default:
            std::memcpy(bf16, numbers, size_t(2 * count));
            return true;
    }
}

bool shorten(int lanes, int64_t columns, std::byte* bf16, std::byte* to) {
    return lanes == 8 ? shorten_group<8>(columns, bf16, to) : shorten_group<16>(columns, bf16, to);
}

void lengthen_row(int lanes, int64_t columns, const std::byte* group, int lane, float* row) {
    const FloatHead& head = head_of(group);
    const auto* from = reinterpret_cast<const uint8_t*>(group + sizeof head);
    for (int64_t k = 0; k < columns; k += short_columns, from += short_bytes(lanes, short_columns))
        for (int c = 0; c < short_columns; ++c) {
            const int byte = short_place(lane, c % 4), code = from[byte] >> c / 4 * 4 & 15;
            row[k + c] = gguf::bf16_to_f32(
                uint16_t(head.upper[code] << 8 | from[(1 + c / 4) * 4 * lanes + byte]));
        }
    const auto* const others = reinterpret_cast<const OtherWeight*>(group + head.others_at);
    for (uint32_t i = 0; i < head.others; ++i)
        if (int(others[i].place % uint32_t(lanes)) == lane)
            row[others[i].place / uint32_t(lanes)] = others[i].value;
}

}  // namespace tandem::kernels::cpu
