// What follows the weighted sum of a token's choices (kernels/vulkan/experts.h).
struct ExpertsResult {
    uint64_t biases, addend;  // either may be left out
    uint64_t y;
    uint y_stride, unused;
};
