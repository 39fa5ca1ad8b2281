// Fragments in plain arithmetic, by which drivers without matrix units can be tested: operands stay
// where they are, and the invocations of a subgroup share a fragment's sums.
const uint sums_each = fragment_rows * fragment_tokens * row_subgroups * token_subgroups /
                       gl_WorkGroupSize.x;  // of an invocation

uint left[row_fragments];  // where they lie
uint right;
float sums[row_fragments * token_fragments * sums_each];

float with_products_of(uvec4 a, uvec4 b, float sum) {
    for (uint i = 0; i < 4; ++i) {
        vec2 of_a = unpackHalf2x16(a[i]), of_b = unpackHalf2x16(b[i]);
        sum = fma(of_a.y, of_b.y, fma(of_a.x, of_b.x, sum));
    }
    return sum;
}

void clear_sums(uint i) {
    for (uint e = 0; e < sums_each; ++e) sums[i * sums_each + e] = 0;
}

void load_left(uint r, uint at) { left[r] = at; }

void load_right(uint at) { right = at; }

void add_products(uint i, uint r) {
    for (uint e = 0; e < sums_each; ++e) {
        uint number = gl_SubgroupInvocationID + e * gl_SubgroupSize;
        uint row = number % fragment_rows, token = number / fragment_rows;
        float sum = sums[i * sums_each + e];
        for (uint part = 0; part < fragment_depth / 8; ++part)
            sum = with_products_of(tile[left[r] + row * tile_stride + part],
                                   tile[right + token * tile_stride + part], sum);
        sums[i * sums_each + e] = sum;
    }
}

void store_sums(uint i, uint at) {
    for (uint e = 0; e < sums_each; ++e) {
        uint to = at + gl_SubgroupInvocationID + e * gl_SubgroupSize;
        tile[to / 4][to % 4] = floatBitsToUint(sums[i * sums_each + e]);
    }
}
