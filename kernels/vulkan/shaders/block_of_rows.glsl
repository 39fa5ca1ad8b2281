// Results of as many rows of W as an int8 block has elements, for a few tokens, which a workgroup
// rounds to blocks. The shader says how many tokens there are (const uint tokens_at_once).
#include "to_int8_blocks.glsl"

const uint block_rows = 32;
shared float results[block_rows * tokens_at_once];

// Once all of `results` is written: a block for each of the tokens of which there are so many. The
// first begins with that element of y, the next follow `stride` elements apart.
void put_block_of_rows(uint64_t y, uint first_element, uint stride, uint tokens) {
    barrier();
    uint token = gl_LocalInvocationIndex / makers, first = gl_LocalInvocationIndex % makers * 4;
    vec4 values = vec4(0);
    bool within = token < min(tokens, tokens_at_once);
    if (within)
        for (uint i = 0; i < 4; ++i) values[i] = results[token * block_rows + first + i];
    put_in_blocks(y, first_element + token * stride + first, values, within);
}
