// Results of as many rows of W as an int8 block has elements, for a few tokens, which a workgroup
// rounds to blocks. The shader says how many tokens there are (const uint tokens_at_once).
#include "to_int8_blocks.glsl"

const uint block_rows = 32;  // rows_of_block in kernels/vulkan/forms.h
shared float results[block_rows * tokens_at_once];

// Once all of `results` is written: a block for each of the tokens of which there are so many. The
// first begins with that element of y, the next follow `stride` elements apart.
void put_block_of_rows(uint64_t y, uint first_element, uint stride, uint tokens) {
    barrier();
    const uint all = min(tokens, tokens_at_once) * makers;
    for (uint begin = 0; begin < all; begin += gl_WorkGroupSize.x) {
        uint i = begin + gl_LocalInvocationIndex, token = i / makers, first = i % makers * 4;
        vec4 values = vec4(0);
        if (i < all)
            for (uint j = 0; j < 4; ++j) values[j] = results[token * block_rows + first + j];
        put_in_blocks(y, first_element + token * stride + first, values, i < all);
    }
}
