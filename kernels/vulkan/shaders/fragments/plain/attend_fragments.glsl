// Fragments of attention in plain arithmetic, by which drivers without matrix units can be tested:
// the invocations of a subgroup share a fragment's elements, so that all of one are in some rows.
const uint elements_each = fragment_rows * fragment_tokens / subgroup;
const uint rows_of_each = subgroup > fragment_rows ? 1 : fragment_rows / subgroup;
const uint query_vectors = fragment_depth / 8;

uvec4 queries[query_fragments * query_vectors * rows_of_each];
float scores_of[score_fragments * elements_each];
uint shares;  // where they lie
float results[result_fragments * elements_each];

// Compilers do not know that it is a constant, and so do not unroll loops, over which they would
// take long.
uint turns(uint count) { return min(count, gl_NumWorkGroups.x * 65536); }

uint row_of_element(uint e) { return (gl_SubgroupInvocationID + e * subgroup) % fragment_rows; }
uint column_of_element(uint e) { return (gl_SubgroupInvocationID + e * subgroup) / fragment_rows; }

void load_query(uint k, uint at) {
    for (uint v = 0; v < query_vectors; ++v)
        for (uint r = 0; r < rows_of_each; ++r)
            queries[(k * query_vectors + v) * rows_of_each + r] =
                staged[at + row_of_element(r) * staged_stride + v];
}

void clear_scores(uint c) {
    for (uint e = 0; e < turns(elements_each); ++e) scores_of[c * elements_each + e] = 0;
}

void add_scores(uint c, uint k, uint at) {
    for (uint e = 0; e < turns(elements_each); ++e) {
        float sum = scores_of[c * elements_each + e];
        for (uint v = 0; v < query_vectors; ++v) {
            uvec4 query = queries[(k * query_vectors + v) * rows_of_each + e % rows_of_each];
            uvec4 key = tile_of_keys[at + column_of_element(e) * key_stride + v];
            for (uint i = 0; i < 4; ++i) {
                vec2 q = unpackHalf2x16(query[i]), of_key = unpackHalf2x16(key[i]);
                sum = fma(q.y, of_key.y, fma(q.x, of_key.x, sum));
            }
        }
        scores_of[c * elements_each + e] = sum;
    }
}

void put_staged(uint e, uint at, float value) {
    uint column = column_of_element(e);
    staged[at + row_of_element(e) * staged_stride + column / 4][column % 4] =
        floatBitsToUint(value);
}

void store_scores(uint c, uint at) {
    for (uint e = 0; e < turns(elements_each); ++e)
        put_staged(e, at, scores_of[c * elements_each + e]);
}

void load_shares(uint at) { shares = at; }

void clear_results(uint n) {
    for (uint e = 0; e < turns(elements_each); ++e) results[n * elements_each + e] = 0;
}

vec2 shares_of(uint e, uint cell) {
    uvec4 eight = staged[shares + row_of_element(e) * staged_stride + cell / 8];
    return unpackHalf2x16(eight[cell % 8 / 2]);
}

float value_of(uint e, uint row) {
    uint column = column_of_element(e);
    vec2 two = unpackHalf2x16(tile_of_values[row + column / 8][column % 8 / 2]);
    return two[column % 2];
}

void add_results(uint n, uint at) {
    for (uint e = 0; e < turns(elements_each); ++e) {
        float sum = results[n * elements_each + e];
        for (uint cell = 0; cell < fragment_depth; cell += 2) {
            vec2 share = shares_of(e, cell);
            sum = fma(share.x, value_of(e, at + cell * value_stride), sum);
            sum = fma(share.y, value_of(e, at + (cell + 1) * value_stride), sum);
        }
        results[n * elements_each + e] = sum;
    }
}

void add_shares(uint n) {
    for (uint e = 0; e < turns(elements_each); ++e)
        for (uint cell = 0; cell < fragment_depth; cell += 2) {
            vec2 share = shares_of(e, cell);
            results[n * elements_each + e] += share.x + share.y;
        }
}

void store_results(uint n, uint at) {
    for (uint e = 0; e < turns(elements_each); ++e)
        put_staged(e, at, results[n * elements_each + e]);
}

void load_results(uint n, uint at) {
    for (uint e = 0; e < turns(elements_each); ++e) {
        uint column = column_of_element(e);
        results[n * elements_each + e] = uintBitsToFloat(
            staged[at + row_of_element(e) * staged_stride + column / 4][column % 4]);
    }
}
