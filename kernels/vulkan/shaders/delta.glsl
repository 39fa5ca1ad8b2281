// The gated delta rule. Per head, with the state S [rows length] of the sequence, for each token
//     S   <- S * exp(decay)             of the head, or of each column
//     S   <- S + beta (v - S k) k^T
//     out  = S q
// Here are its operands, and where they lie.
#include "sequences.glsl"
#include "fours.glsl"

layout(constant_id = 1) const uint length = 128;  // of keys, queries and rows of the state
layout(constant_id = 2) const uint rows = 128;    // of a head's state, as elements of v
layout(constant_id = 3) const uint heads = 1;
layout(constant_id = 4) const uint key_heads = 1;
layout(constant_id = 5) const uint heads_apart = 1;  // from one key head to the next
layout(constant_id = 6) const bool per_channel = false;
layout(constant_id = 7) const bool aligned = false;  // keys, queries and decays, for fours.glsl

layout(push_constant) uniform Parameters {
    uint64_t count, sequence_count, sequences, sequence_of;
    uint64_t q, k, v, decay, beta, state, y;
    uint64_t scratch;  // of chunks
    uint q_stride, k_stride, v_stride, decay_stride, beta_stride, y_stride;  // of tokens
    uint row_bytes;                                                          // of the state
    uint few;  // sequences of up to so many tokens in a step go token by token, others in chunks
};

uint key_of(uint head) { return head / heads_apart % key_heads; }

uint64_t query_row(uint token, uint head) {
    return q + uint64_t(token * q_stride + key_of(head) * length) * 4;
}
uint64_t key_row(uint token, uint head) {
    return k + uint64_t(token * k_stride + key_of(head) * length) * 4;
}
uint64_t value_row(uint token, uint head) {
    return v + uint64_t(token * v_stride + head * rows) * 4;
}
uint64_t result_row(uint token, uint head) {
    return y + uint64_t(token * y_stride + head * rows) * 4;
}
// One number, or one for each channel.
uint64_t decay_row(uint token, uint head) {
    return decay + uint64_t(token * decay_stride + head * (per_channel ? length : 1)) * 4;
}
float strength_of(uint token, uint head) {
    return Floats(beta).at[token * beta_stride + head];
}
uint64_t state_row(uint slot, uint head, uint row) {
    return state + uint64_t((slot * heads + head) * rows + row) * row_bytes;
}
