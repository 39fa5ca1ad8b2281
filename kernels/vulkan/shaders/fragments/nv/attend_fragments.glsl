// Fragments of attention as VK_NV_cooperative_matrix has them: spread over a subgroup in the
// driver's own way.
#extension GL_KHR_memory_scope_semantics : require
#extension GL_NV_cooperative_matrix : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_spirv_intrinsics : require

// SubgroupUniformControlFlowKHR: subgroups leave out tiles by themselves, and all invocations of one
// must use its fragments together.
spirv_execution_mode(extensions = ["SPV_KHR_subgroup_uniform_control_flow"], 4421);

fcoopmatNV<16, gl_ScopeSubgroup, fragment_rows, fragment_depth> queries[query_fragments];
fcoopmatNV<32, gl_ScopeSubgroup, fragment_rows, fragment_tokens> scores_of[score_fragments];
fcoopmatNV<16, gl_ScopeSubgroup, fragment_rows, fragment_depth> shares;
fcoopmatNV<32, gl_ScopeSubgroup, fragment_rows, fragment_tokens> results[result_fragments];

uint turns(uint count) { return count; }

void load_query(uint k, uint at) { coopMatLoadNV(queries[k], staged, at, staged_stride, false); }

void clear_scores(uint c) {
    scores_of[c] = fcoopmatNV<32, gl_ScopeSubgroup, fragment_rows, fragment_tokens>(0.0);
}

void add_scores(uint c, uint k, uint at) {
    fcoopmatNV<16, gl_ScopeSubgroup, fragment_depth, fragment_tokens> keys;
    coopMatLoadNV(keys, tile_of_keys, at, key_stride, true);
    scores_of[c] = coopMatMulAddNV(queries[k], keys, scores_of[c]);
}

void store_scores(uint c, uint at) {
    coopMatStoreNV(scores_of[c], staged, at, staged_stride, false);
}

void load_shares(uint at) { coopMatLoadNV(shares, staged, at, staged_stride, false); }

void clear_results(uint n) {
    results[n] = fcoopmatNV<32, gl_ScopeSubgroup, fragment_rows, fragment_tokens>(0.0);
}

void add_results(uint n, uint at) {
    fcoopmatNV<16, gl_ScopeSubgroup, fragment_depth, fragment_tokens> values;
    coopMatLoadNV(values, tile_of_values, at, value_stride, false);
    results[n] = coopMatMulAddNV(shares, values, results[n]);
}

void add_shares(uint n) {
    results[n] = coopMatMulAddNV(
        shares, fcoopmatNV<16, gl_ScopeSubgroup, fragment_depth, fragment_tokens>(1.0), results[n]);
}

void store_results(uint n, uint at) {
    coopMatStoreNV(results[n], staged, at, staged_stride, false);
}

void load_results(uint n, uint at) {
    coopMatLoadNV(results[n], staged, at, staged_stride, false);
}
