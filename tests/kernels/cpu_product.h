// Products of packed rows with tokens by the kernels of one instruction set, without a device.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/cpu/forms.h"
#include "kernels/cpu/isa.h"
#include "kernels/cpu/packing.h"

namespace tandem::test {

// How a set rounds tokens to rows and tiles, and the largest code.
struct Rounding {
    kernels::cpu::Quantize* quantize;
    kernels::cpu::Place* place;
    int largest;
};
inline std::vector<Rounding> roundings(const kernels::cpu::Isa& isa) {
    std::vector<Rounding> all{{isa.quantize, isa.place, kernels::cpu::largest_code}};
    if (isa.place_small)
        all.push_back({isa.quantize_small, isa.place_small, kernels::cpu::largest_small_code});
    return all;
}

inline int code_of(const kernels::cpu::Q8Tile& tile, int token, int column,
                   const kernels::cpu::Isa& isa) {
    const int place = kernels::cpu::tile_place(column, isa.sums_in_halves);
    return tile.codes[place / 64][token][place % 64];
}

// y [tokens][rows] of packed rows, which are whole groups; `tiles`: tokens are read from tiles,
// else from rows; `adding`: by multiply_adding(), where there is one; `small`: codes of
// tokens are small even if they are not.
inline std::vector<float> product_of_packed(const kernels::cpu::Isa& isa, gguf::DType dtype,
                                            const std::vector<std::byte>& packed, int64_t rows,
                                            const std::vector<std::vector<float>>& tokens,
                                            bool tiles, bool adding, bool small = false) {
    namespace cpu = kernels::cpu;
    const int64_t columns = std::ssize(tokens[0]), count = std::ssize(tokens);
    struct alignas(64) Line {
        uint8_t bytes[64];
    };
    const cpu::MatrixKernels& kernels = *isa.kernels(int(dtype));
    cpu::TileForm form = cpu::tile_form_for(isa, dtype, columns, adding);
    form.codes.small |= small;
    const int64_t stride = tiles               ? form.bytes()
                           : kernels.block > 0 ? cpu::q8_row(columns, kernels.block).bytes
                                               : (columns * 4 + 63) / 64 * 64;
    const int64_t places = tiles ? cpu::tiles_of(count) * cpu::tile_tokens : count;
    std::vector<Line> x(size_t(places * stride / 64)), scratch(size_t(cpu::product_scratch / 64));
    auto* to = reinterpret_cast<uint8_t*>(x.data());
    for (int64_t token = 0; token < places; ++token) {
        const float* row = token < count ? tokens[size_t(token)].data() : nullptr;
        if (tiles)
            form.place(row, to + token / cpu::tile_tokens * stride, int(token % cpu::tile_tokens));
        else if (kernels.block > 0)
            cpu::Codes{kernels.block, form.codes.small}.quantize(isa, row, columns,
                                                                 to + token * stride);
        else
            std::copy_n(row, columns, reinterpret_cast<float*>(to + token * stride));
    }
    const size_t results = size_t(count) * size_t(rows);
    std::vector<Line> y_lines((results * sizeof(float) + sizeof(Line) - 1) / sizeof(Line));
    auto* y = reinterpret_cast<float*>(y_lines.data());
    auto* multiply = tiles ? form.product_of(kernels) : kernels.multiply_rows;
    multiply({.matrix = reinterpret_cast<const uint8_t*>(packed.data()),
              .rows = rows,
              .columns = columns,
              .first_group = 0,
              .last_group = rows / isa.lanes,
              .x = to,
              .x_stride = stride,
              .tokens = count,
              .y = y,
              .y_stride = rows,
              .scratch = reinterpret_cast<uint8_t*>(scratch.data())});
    return {y, y + results};
}

// The same of rows that have the bytes of their type.
inline std::vector<float> product_of(const kernels::cpu::Isa& isa, gguf::DType dtype,
                                     const std::vector<std::vector<std::byte>>& rows,
                                     const std::vector<std::vector<float>>& tokens,
                                     bool tiles = true, bool adding = kernels::cpu::adds_cheaply(),
                                     bool small = false) {
    namespace cpu = kernels::cpu;
    const int64_t columns = std::ssize(tokens[0]);
    const int64_t group_bytes = cpu::group_bytes(dtype, isa.lanes, columns);
    const int64_t groups = std::ssize(rows) / isa.lanes;
    std::vector<std::byte> packed(size_t(groups * group_bytes));
    for (int64_t group = 0; group < groups; ++group) {
        std::vector<const std::byte*> of_group;
        for (int lane = 0; lane < isa.lanes; ++lane)
            of_group.push_back(rows[size_t(group * isa.lanes + lane)].data());
        cpu::pack_group(dtype, isa.lanes, columns, of_group.data(),
                        &packed[size_t(group * group_bytes)]);
    }
    return product_of_packed(isa, dtype, packed, std::ssize(rows), tokens, tiles, adding, small);
}

}  // namespace tandem::test
