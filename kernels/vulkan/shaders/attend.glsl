// What attention's shaders are told (kernels/vulkan/ops/attend.cpp).
struct Heads {  // of queries or results
    uint64_t at;
    uint token, kv_head, query;  // strides
    uint unused;
};

layout(buffer_reference, std430) readonly buffer Attention {
    Heads q, q2, y;
    uint64_t keys, values, second_keys, sinks;
    uint64_t count, positions, sequence_of, sequences;
    uint64_t partial;  // per token, head and part: largest score, sum, two unused, results
    uint64_t blocks;   // the results in int8 blocks
    uint64_t done;     // how many workgroups of attend_few.comp that share queries are done
    uint kv_heads, q_per_kv, key_cells, value_cells, second_cells, second_heads;
    uint window, parts, q_blocks;
    float scale, cap;
};

layout(push_constant) uniform Parameters { Attention attention; };

// Smaller than any score, and yet its differences are numbers.
const float nothing = -1e30;

uint64_t row_of_head(Heads heads, uint token, uint kv_head, uint query) {
    return heads.at +
           uint64_t(token * heads.token + kv_head * heads.kv_head + query * heads.query) * 4;
}

// What the sum of values by shares exp(score - largest) is multiplied by in the end, where `sum` is
// that of the shares.
float factor_of(uint head, float largest, float sum) {
    if (attention.sinks == 0) return 1 / sum;
    float sink = Floats(attention.sinks).at[head], most = max(largest, sink);
    float of_cells = exp(largest - most);
    return of_cells / (sum * of_cells + exp(sink - most));
}

// Heads are counted over kv heads and the queries that share one.
uint64_t partial_of(uint token, uint head, uint part, uint dv) {
    uint heads = attention.kv_heads * attention.q_per_kv;
    uint number = (token * heads + head) * attention.parts + part;
    return attention.partial + uint64_t(number) * ((dv + 3) / 4 * 4 + 4) * 4;
}
