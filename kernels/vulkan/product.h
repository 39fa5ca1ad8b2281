// What a launch of linear asks of its shaders, in f32, in int8 or on matrix units, with what
// follows the product.
#pragma once

#include "kernels/vulkan/runs.h"
#include "kernels/vulkan/site.h"

namespace tandem::kernels::vulkan {

// All of them have the same (shaders/linear.glsl).
struct ProductParameters {
    Address count, w, x, y, codebook, other;
    uint32_t rows, columns, row_bytes, per_live;
    Runs weight_rows, token_rows;
};

// What x's rows are multiplied with is all of W, or, where the two share axes, those rows of W that
// have the same place along them.
struct Product {
    ProductParameters parameters;
    gguf::DType dtype;
    int64_t most_tokens = 0;  // rows of x that meet a row of W
    Live live = Live::No;
    bool shares_axes = false;
    bool aligned = false;    // x, as floats, can be read by fours
    bool in_blocks = false;  // y becomes int8 blocks
    uint32_t kind = 0, matrices = 1;
};

// The axes of x that are not contracted, and whether W has some of them, too.
struct OuterAxes {
    graph::Shape axes;
    std::vector<int64_t> extents;
    int64_t per_live = 1;  // rows of x for a live element of its first axis
    bool shared = false;

    int64_t most_tokens() const;  // rows of x that meet a row of W
};
OuterAxes outer_axes(const graph::View& x, const graph::View& w);

// `x` says how the operand lies in the form in which it is read.
Product product_of(const Launch& launch, const Site& site, const graph::View& x);
std::vector<Dispatch> in_floats(const Product& product, const Site& site);
// x is in int8 blocks, and so may be y.
std::vector<Dispatch> in_dots(const Product& product, const Site& site);

// True where in_dots() may give the last result of a linear's chain in int8 blocks.
bool gives_blocks(std::span<const Operation> claimed);
// True where a linear's x has the contracted axes of W last, as W has them.
bool ends_with_columns(const Operation& linear);
// True where rows of that type are multiplied in int8.
bool has_dots(gguf::DType dtype);

}  // namespace tandem::kernels::vulkan
