// Numbers that shares of a whole are made with.
const float minus_infinity = -1.0 / 0.0;
const float least_sum = 6.103515625e-05;  // 2^-14, as the op normalize has it
