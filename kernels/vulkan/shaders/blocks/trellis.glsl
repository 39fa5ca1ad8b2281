// What the types IQ*_KT share: codes seed a linear congruential generator, whose next numbers are
// the elements.
#ifndef TRELLIS
#define TRELLIS

// The first four powers of the generator's factor: four steps at once.
const uvec4 trellis_steps = uvec4(0xcbac1fedu, 0xc8734169u, 0xbd2b4535u, 0xe50c7d11u);

// The next four numbers. Four fields of 6 bits of each state add up to nearly normal noise.
vec4 trellis4(uint seed) {
    uvec4 fields = (seed * trellis_steps) & 0x3f3f3f3fu;
    return vec4((fields * 0x01010101u) >> 24) - 126;
}
// The next eight numbers, of a code.
void trellis8(uint code, out vec4 a, out vec4 b) {
    uint seed = code + 4096;
    a = trellis4(seed);
    b = trellis4(seed * trellis_steps.w);
}

#endif
