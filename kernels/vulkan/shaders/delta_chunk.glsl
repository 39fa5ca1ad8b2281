// The gated delta rule (delta.glsl) for a chunk of tokens at once. With the decays up to token i
// added up to c_i, and every channel of <a, b>_ij weighed by e^(c_i - c_j), the corrections follow
// from the state S before the chunk and from each other (Yang et al. 2024):
//     delta_i = beta_i (v_i - S (e^c_i k_i) - sum over j < i of <k_i, k_j>_ij delta_j)
//     out_i   =         S (e^c_i q_i)       + sum over j <= i of <q_i, k_j>_ij delta_j
//     S      <- S e^c_last + sum over j of delta_j (e^(c_last - c_j) k_j)^T
// The first line is linear in v and S: delta_i = u_i - S w_i, where u and w solve the same
// triangular system, whatever the state is. delta_solve.comp does this for all chunks side by side,
// then delta_chunks.comp goes from chunk to chunk.
//
// Chunks end where a block of tokens of the step ends, or the sequence. The solution is kept per
// token and head: w_i, e^c_i q_i and <q_i, k_j>_ij in the scratch memory, and u_i where the result
// will be.
const uint chunk = 32;     // tokens
const uint channels = 32;  // that are worked on at once
const uint padded = (length + channels - 1) / channels * channels;
const uint solution = 2 * padded + chunk;  // numbers per token and head

uint64_t solved_keys(uint token, uint head) {
    return scratch + uint64_t(token * heads + head) * (solution * 4);
}
uint64_t solved_queries(uint token, uint head) { return solved_keys(token, head) + padded * 4; }
uint64_t solved_reads(uint token, uint head) { return solved_keys(token, head) + 2 * padded * 4; }

// The token behind the chunk of the sequence that begins with `token`.
uint chunk_end(Sequence sequence, uint token) {
    return min((token / chunk + 1) * chunk, sequence.first + sequence.count);
}

// Whether a decay leaves nothing. It is not added up with those between tokens, where it would take
// the bits of those after it, or all of them.
bvec4 forgets(vec4 decay) {
    return lessThan(decay, vec4(-104));
}
// Decays of the state, added up: what is forgotten stays so, even if it were to grow again.
vec4 fading(vec4 decay) {
    return mix(decay, vec4(-1.0 / 0.0), forgets(decay));
}

// Tokens in shared memory lie this many fours apart, so that neighbours are in different banks.
const uint fours = channels / 4, fours_apart = fours + 1;
