// How much of the shared memory blocks of attention take.
#include "kernels/vulkan/attend_blocks.h"

#include <gtest/gtest.h>

#include <tuple>

#include "graph/ops/attend.h"

namespace tandem::kernels::vulkan {
namespace {

Operation attend_of(int64_t d, int64_t dv) {
    using namespace graph::ops;
    Operation attend{.inputs = std::vector<Operand>(operands)};
    attend.inputs[queries].view.extents = {64, 1, 8, d};
    attend.inputs[keys_cache].view.extents = {1, 1000};
    attend.output.view.extents = {64, 1, 8, dv};
    return attend;
}

// Tiles, scores, and what units/attend_matrices.comp has beside them on subgroups of 64.
int64_t bytes_on_matrices(int64_t cells, int64_t d, int64_t dv) {
    constexpr int64_t rows = 4 * 16, maxima = 4 * 64 * 4, spoiled = 2 * 4;
    const int64_t vectors = cells * (d / 8 + 1) + cells * (dv / 8 + 1) + rows * (cells / 4 + 1);
    return vectors * 16 + maxima + spoiled;
}

TEST(AttendBlocks, fit_into_shared_memory_on_matrix_units) {
    for (auto [d, dv, cells] : {std::tuple{160, 160, 32},
                                {176, 160, 16},
                                {192, 128, 32},
                                {256, 80, 16},
                                {256, 256, 16}}) {
        EXPECT_EQ(blocks_of_matrices(attend_of(d, dv)).cells_at_once, cells) << d << " " << dv;
        EXPECT_LE(bytes_on_matrices(cells, d, dv), shared_bytes) << d << " " << dv;
    }
}

}  // namespace
}  // namespace tandem::kernels::vulkan
