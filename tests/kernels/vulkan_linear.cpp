// Products of many tokens on Vulkan devices, tile by tile.
#include "kernels/vulkan_case.h"

namespace tandem {
namespace {

using gguf::DType;
using graph::Axis;
using graph::Tensor;
using test::expect_close;
using test::SmallModel;
using test::Vulkan;

Tensor product(SmallModel& model, DType dtype, int64_t rows, int64_t columns) {
    Axis n = model.axis("n", rows), k = model.axis("k", columns);
    return linear(model.activation("x", {k}), model.weight("w", dtype, {n}, {k}));
}

// One token more than a tile, one less, and few; columns that leave parts and blocks unfinished.
TEST_F(Vulkan, TilesOfLinear) {
    for (auto [rows, columns] : {std::pair{1, 8}, {64, 24}, {65, 21}, {130, 77}, {63, 2048}})
        for (int tokens : {9, 17, 65}) {
            SmallModel model;
            model.finish(product(model, DType::F32, rows, columns));
            expect_close(model, {test::random_step(0, tokens)});
        }
}

// Enough rows for the largest tiles.
TEST_F(Vulkan, LargeTilesOfLinear) {
    SmallModel model;
    model.finish(product(model, DType::Q4_0, 8191, 96));
    expect_close(model, {test::random_step(0, 130), test::random_step(0, 12)});
}

// Several axes on each side: all heads of all tokens are rows of x.
TEST_F(Vulkan, TilesOfManyAxes) {
    SmallModel model;
    Axis heads = model.axis("heads", 5), d = model.axis("d", 12);
    Axis n = model.axis("n", 7), m = model.axis("m", 11);
    Tensor x = model.activation("x", {heads, d});
    model.finish(linear(x, model.weight("w", DType::F16, {n, m}, {d})));
    expect_close(model, {test::random_step(0, 3), test::random_step(0, 30)});
}

// Rows of W that meet one head of x each have no tiles, however many tokens there are.
TEST_F(Vulkan, NoTilesOfSharedAxes) {
    SmallModel model;
    Axis heads = model.axis("heads", 3), d = model.axis("d", 40), n = model.axis("n", 9);
    Tensor x = model.activation("x", {heads, d});
    model.finish(linear(x, model.weight("w", DType::F32, {heads, n}, {d})));
    expect_close(model, {test::random_step(0, 1), test::random_step(0, 30)});
}

}  // namespace
}  // namespace tandem
