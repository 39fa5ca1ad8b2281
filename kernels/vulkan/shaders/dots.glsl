// Sums of products of signed bytes, four of them packed in a word.
#extension GL_EXT_spirv_intrinsics : require

// OpSDot, for which GLSL has no word before GL_EXT_integer_dot_product; 0 says that words are packed.
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6018, 6019], id = 4450)
int packed_dot(uint a, uint b, spirv_literal int packing);

// Sums begin here, with the bits of the number 1.5 x 2^23: what is added to them is added to the
// number. That costs less than a conversion, and is exact for up to 256 products.
const int no_sum = 0x4b400000;

float number_of(int sum) { return intBitsToFloat(sum) - 12582912; }

int with_dots(int sum, uvec4 a, uvec4 b) {
    sum += packed_dot(a.x, b.x, 0);
    sum += packed_dot(a.y, b.y, 0);
    sum += packed_dot(a.z, b.z, 0);
    return sum + packed_dot(a.w, b.w, 0);
}
