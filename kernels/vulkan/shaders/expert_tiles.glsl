// What all ways of a product of experts for many tokens have in common (many_experts.cpp).
layout(push_constant) uniform Parameters {
    uint64_t sorted, tiles;  // of experts_sort.comp
    uint64_t w, x, codebook;
    uint64_t y;  // [choices rows]
    uint rows, columns, row_bytes, x_stride;
    uint sharers;  // choices that have a row of x in common
};
