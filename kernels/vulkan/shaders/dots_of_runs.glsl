// Products of two runs of 16 elements of a weight and of int8 blocks, for a few tokens. The shader
// has the decoder of a type of dots.
#include "int8_blocks.glsl"
#include "dots.glsl"

struct WeightRuns {
    uvec4 a, b;
    RunScales by;
};

struct TokenRuns {
    uvec4 a, b;
    vec2 head_a, head_b;
};

WeightRuns weight_runs(uint64_t row, uint blocks, uint block, uint quad) {
    WeightRuns runs;
    codes_of_runs(row, blocks, block, quad, runs.a, runs.b);
    runs.by = scales_of_runs(row, blocks, block, quad);
    return runs;
}

TokenRuns token_runs(uint64_t x, uvec2 at) {
    return TokenRuns(codes_at(x, at.x), codes_at(x, at.y), head_at(x, at.x), head_at(x, at.y));
}

float product_of_runs(WeightRuns w, TokenRuns x) {
    vec2 scales = w.by.scales * vec2(x.head_a.x, x.head_b.x);
    float sum;
    // Both runs of a block of 32 have the same scales.
    if (block_elements == 32)
        sum = scales.x * number_of(with_dots(with_dots(no_sum, w.a, x.a), w.b, x.b));
    else
        sum = dot(scales, vec2(number_of(with_dots(no_sum, w.a, x.a)),
                               number_of(with_dots(no_sum, w.b, x.b))));
    return shifted ? sum + dot(w.by.offsets, vec2(x.head_a.y, x.head_b.y)) : sum;
}
