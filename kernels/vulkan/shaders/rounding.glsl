// Numbers to fewer bits as the file formats say: a driver's own conversion to f16 may round in
// another way.

// To nearest, halves to even.
uint round_off(uint value, uint bits) {
    return (value + ((1u << (bits - 1)) - 1) + (value >> bits & 1u)) >> bits;
}

uint half_bits(float value) {
    uint bits = floatBitsToUint(value), magnitude = bits & 0x7fffffffu;
    uint sign = bits >> 16 & 0x8000u, exponent = magnitude >> 23;
    if (magnitude > 0x7f800000u) return sign | 0x7e00u;   // not a number
    if (magnitude >= 0x477ff000u) return sign | 0x7c00u;  // 65520 and more: infinity
    if (exponent >= 113) return sign | round_off(magnitude - (112u << 23), 13);
    if (exponent < 102) return sign;  // less than half of the least subnormal, 2^-24
    return sign | round_off(magnitude & 0x7fffffu | 0x800000u, 126 - exponent);
}

uint bfloat_bits(float value) {
    uint bits = floatBitsToUint(value);
    return (bits & 0x7fffffffu) > 0x7f800000u ? bits >> 16 | 0x40u : round_off(bits, 16);
}

// To nearest, halves away from zero. What is not a number becomes the least code.
int code_of(float value, int most) {
    if (!(value > float(-most))) return -most;
    float whole = trunc(min(value, float(most))), rest = value - whole;
    if (abs(rest) >= 0.5) whole += sign(rest);
    return min(int(whole), most);
}
