// Fragments as VK_NV_cooperative_matrix has them: spread over a subgroup in the driver's own way.
#extension GL_KHR_memory_scope_semantics : require
#extension GL_NV_cooperative_matrix : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require

fcoopmatNV<16, gl_ScopeSubgroup, fragment_rows, fragment_depth> left[row_fragments];
fcoopmatNV<16, gl_ScopeSubgroup, fragment_depth, fragment_tokens> right;
fcoopmatNV<32, gl_ScopeSubgroup, fragment_rows, fragment_tokens>
    sums[row_fragments * token_fragments];

void clear_sums(uint i) {
    sums[i] = fcoopmatNV<32, gl_ScopeSubgroup, fragment_rows, fragment_tokens>(0.0);
}

void load_left(uint r, uint at) { coopMatLoadNV(left[r], tile, at, tile_stride, false); }

void load_right(uint at) { coopMatLoadNV(right, tile, at, tile_stride, true); }

void add_products(uint i, uint r) { sums[i] = coopMatMulAddNV(left[r], right, sums[i]); }

void store_sums(uint i, uint at) {
    coopMatStoreNV(sums[i], tile, at / 4, fragment_rows / 4, true);
}
