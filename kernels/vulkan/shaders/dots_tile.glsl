// A tile of products in int8. Codes of both sides come into shared memory 128 elements of their rows
// at a time, in the order of the elements, and what they are multiplied by beside them.
//
// The shader has the decoder of a type of dots, and `x`, in int8 blocks.
#include "int8_blocks.glsl"
#include "dots.glsl"
#include "tile_shape.glsl"

// Eight runs of 16 elements are loaded at once. A ninth keeps rows that are read at once, eight of
// them, in different banks.
const uint runs_at_once = 8, tile_stride = runs_at_once + 1;
shared uvec4 tile_w[tile_rows * tile_stride];
shared uvec4 tile_x[tile_tokens * tile_stride];

// Scales and offsets of what elements of a row have in common, and for x the scale of a block and
// the sums of its runs. Neighbouring rows are neighbours.
const uint scales_at_once = 128 / scaled_elements;
shared vec2 scales_w[tile_rows * scales_at_once];
shared float scales_x[tile_tokens * 4];
shared float sums_x[shifted ? tile_tokens * runs_at_once : 1];

void fill_w(uint columns, uint first) {
    const uint quads = block_elements / 32;
    uint blocks = columns / block_elements;
    for (uint i = gl_LocalInvocationIndex; i < tile_rows * 4; i += gl_WorkGroupSize.x) {
        uint row = i / 4, number = first / 32 + i % 4, block = number / quads, quad = number % quads;
        uvec4 a = uvec4(0), b = uvec4(0);
        RunScales by = RunScales(vec2(0), vec2(0));
        if (block < blocks) {
            codes_of_runs(row_of_w(row), blocks, block, quad, a, b);
            by = scales_of_runs(row_of_w(row), blocks, block, quad);
        }
        uvec2 run = (block * block_elements + runs_of(quad) - first) / 16;
        tile_w[row * tile_stride + run.x] = a;
        tile_w[row * tile_stride + run.y] = b;
        // Of 32 elements, those that have the first half write the scale.
        uvec2 at = run * 16 / scaled_elements * tile_rows + row;
        if (scaled_elements == 16 || run.x % 2 == 0)
            scales_w[at.x] = vec2(by.scales.x, by.offsets.x);
        if (scaled_elements == 16 || run.y % 2 == 0)
            scales_w[at.y] = vec2(by.scales.y, by.offsets.y);
    }
}

void fill_x(uint columns, uint first) {
    for (uint i = gl_LocalInvocationIndex; i < tile_tokens * runs_at_once; i += gl_WorkGroupSize.x) {
        uint token = i / runs_at_once, run = i % runs_at_once, at = first + run * 16;
        uvec4 codes = uvec4(0);
        vec2 head = vec2(0);
        if (at < columns) {
            codes = codes_at(x, place_in_x(token) + at);
            head = head_at(x, place_in_x(token) + at);
        }
        tile_x[token * tile_stride + run] = codes;
        if (run % 2 == 0) scales_x[run / 2 * tile_tokens + token] = head.x;
        if (shifted) sums_x[run * tile_tokens + token] = head.y;
    }
}

// Adds the products of 32 elements.
void add_products(uint number) {
    uvec4 low[rows_each], high[rows_each];
    vec2 by_low[rows_each], by_high[rows_each];
    for (uint r = 0; r < rows_each; ++r) {
        uint row = row_in_tile(r);
        low[r] = tile_w[row * tile_stride + 2 * number];
        high[r] = tile_w[row * tile_stride + 2 * number + 1];
        by_low[r] = scales_w[number * 32 / scaled_elements * tile_rows + row];
        if (scaled_elements == 16) by_high[r] = scales_w[(number * 2 + 1) * tile_rows + row];
    }
    for (uint t = 0; t < tokens_each; ++t) {
        uint token = token_in_tile(t);
        uvec4 x_low = tile_x[token * tile_stride + 2 * number];
        uvec4 x_high = tile_x[token * tile_stride + 2 * number + 1];
        float scale = scales_x[number * tile_tokens + token];
        vec2 x_sums = vec2(0);
        if (shifted) x_sums = vec2(sums_x[2 * number * tile_tokens + token],
                                   sums_x[(2 * number + 1) * tile_tokens + token]);
        for (uint r = 0; r < rows_each; ++r) {
            float sum = sums[r * tokens_each + t];
            if (scaled_elements == 32) {
                int products = with_dots(with_dots(no_sum, low[r], x_low), high[r], x_high);
                sum = fma(by_low[r].x * scale, number_of(products), sum);
                if (shifted) sum = fma(by_low[r].y, x_sums.x + x_sums.y, sum);
            } else {
                float products = by_low[r].x * number_of(with_dots(no_sum, low[r], x_low));
                products = fma(by_high[r].x, number_of(with_dots(no_sum, high[r], x_high)), products);
                sum = fma(scale, products, sum);
                if (shifted) sum = fma(by_low[r].y, x_sums.x, fma(by_high[r].y, x_sums.y, sum));
            }
            sums[r * tokens_each + t] = sum;
        }
    }
}

void add_up_tile(uint columns) {
    for (uint i = 0; i < rows_each * tokens_each; ++i) sums[i] = 0;
    for (uint first = 0; first < columns; first += 128) {
        barrier();
        fill_w(columns, first);
        fill_x(columns, first);
        barrier();
        for (uint number = 0; number < 4; ++number) add_products(number);
    }
}
