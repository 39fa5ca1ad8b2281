// Functions of one number, written so that large arguments do not overflow.
float sigmoid(float x) { return 1 / (1 + exp(-x)); }

float tanh_of(float x) {
    float e = exp(-2 * abs(x));
    return sign(x) * (1 - e) / (1 + e);
}

float softplus(float x) {
    if (x > 20) return x;
    float e = exp(x);
    // The logarithm of 1 + e loses the digits of a small e.
    return e < 1e-3 ? e * (1 - e * (0.5 - e / 3)) : log(1 + e);
}

float silu(float x) { return x * sigmoid(x); }

float gelu(float x) {
    return 0.5 * x * (1 + tanh_of(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

// By its bits, as a driver may take every float for a number.
bool is_nan(float x) { return (floatBitsToUint(x) & 0x7fffffffu) > 0x7f800000u; }

// 0: silu, 1: gelu, 2: clamped_swiglu (gpt-oss)
float gated_unit(uint kind, float gate, float up) {
    if (kind == 0) return silu(gate) * up;
    if (kind == 1) return gelu(gate) * up;
    // min() and clamp() may lose what is no number.
    if (is_nan(gate) || is_nan(up)) return uintBitsToFloat(0x7fc00000u);
    gate = min(gate, 7);
    return gate * sigmoid(1.702 * gate) * (clamp(up, -7, 7) + 1);
}
