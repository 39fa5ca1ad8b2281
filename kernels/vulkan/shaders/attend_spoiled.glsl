// How attention on matrix units puts right what values that are not finite have spoiled. The shader
// has what it brings into a tile (next, own_eight(), loads_of()), the cells that a row sees (oldest,
// newest), and the constants of its tiles.

// In the second turn zeros stand for values that are not finite, and cells that have some, one bit
// each, spoil the rows that see them: these keep what the first turn gave them.
shared uint spoiled_cells;
shared bool spoiled;  // a result is not finite
uint spoiled_rows = 0;  // of the invocation's

bool are_finite(uvec4 halves) {
    return ((halves & 0x7c007c00u) + 0x04000400u & 0x80008000u) == uvec4(0);
}

void keep_finite() {
    [[unroll]] for (uint i = 0; i < turns(loads_of(value_eights)); ++i)
        if (!are_finite(next[i])) {
            next[i] = uvec4(0);
            if (own_eight(i) < cells_at_once * value_eights)
                atomicOr(spoiled_cells, 1u << own_eight(i) / value_eights);
        }
}

void spoil_rows(int first) {
    [[unroll]] for (uint r = 0; r < rows_each; ++r)
        for (uint cell = 0; cell < cells_at_once; ++cell) {
            int at = first + int(cell);
            bool seen = at >= oldest[r] && at <= newest[r];
            if (seen && (spoiled_cells >> cell & 1) != 0) spoiled_rows |= 1u << r;
        }
    barrier();
    if (gl_LocalInvocationIndex == 0) spoiled_cells = 0;
}
