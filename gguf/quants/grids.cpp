#include "gguf/quants/grids.h"

#include "gguf/quants/grid_codes.h"

namespace tandem::gguf {

namespace {

template <size_t length, size_t count>
constexpr auto points_of(const std::array<uint16_t, count>& codes, const Levels& levels) {
    constexpr unsigned bits = length == 8 ? 2 : 3;
    std::array<std::array<int8_t, length>, count> points{};
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < length; k++)
            points[i][k] = levels[(codes[i] >> (bits * k)) & ((1u << bits) - 1)];
    return points;
}

template <size_t length, size_t count>
constexpr auto halves_of(const std::array<uint16_t, count>& codes) {
    constexpr unsigned bits = length == 8 ? 8 : 6;
    Halves<count> halves{};
    for (size_t i = 0; i < count; i++) {
        halves.first[i] = uint8_t(codes[i] & ((1u << bits) - 1));
        halves.second[i] = uint8_t(codes[i] >> bits);
    }
    return halves;
}

template <size_t count>
constexpr auto stepped_halves_of(const std::array<uint16_t, count>& codes) {
    const auto [first, second] = halves_of<8>(codes);
    SteppedHalves<count> halves{.first = first};
    for (size_t i = 0; i < count; i++) {
        const size_t begin = i / 16 * 16;
        if (second[i] == second[begin])
            halves.step[i / 16] = uint8_t(i - begin + 1);
        else if (second[i] != second[begin + 15])
            throw "two steps";  // does not compile
        halves.before[i / 16] = second[begin];
        halves.after[i / 16] = second[begin + 15];
    }
    return halves;
}

}  // namespace

constinit const std::array<Octet, 256> iq2xxs_grid = points_of<8>(iq2xxs_grid_codes, iq2_levels);
constinit const std::array<Octet, 512> iq2xs_grid = points_of<8>(iq2xs_grid_codes, iq2_levels);
constinit const std::array<Octet, 1024> iq2s_grid = points_of<8>(iq2s_grid_codes, iq2_levels);
constinit const std::array<Quad, 256> iq3xxs_grid = points_of<4>(iq3xxs_grid_codes, iq3xxs_levels);
constinit const std::array<Quad, 512> iq3s_grid = points_of<4>(iq3s_grid_codes, iq3s_levels);
constinit const std::array<Octet, 2048> iq1s_grid = points_of<8>(iq1s_grid_codes, iq1_levels);

constinit const Halves<256> iq2xxs_grid_halves = halves_of<8>(iq2xxs_grid_codes);
constinit const Halves<512> iq2xs_grid_halves = halves_of<8>(iq2xs_grid_codes);
constinit const Halves<1024> iq2s_grid_halves = halves_of<8>(iq2s_grid_codes);
constinit const Halves<256> iq3xxs_grid_halves = halves_of<4>(iq3xxs_grid_codes);
constinit const Halves<512> iq3s_grid_halves = halves_of<4>(iq3s_grid_codes);
constinit const SteppedHalves<2048> iq1s_grid_halves = stepped_halves_of(iq1s_grid_codes);

}  // namespace tandem::gguf
