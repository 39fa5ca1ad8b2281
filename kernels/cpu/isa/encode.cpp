// Rows of caches of floating point types, written.
#include "gguf/dtype.h"
#include "kernels/cpu/isa/kernels.h"
#include "kernels/cpu/isa/simd.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

namespace {

template <int bytes, typename Store>
inline void encode_row(const float* x, int64_t count, uint8_t* row, Store store_vector) {
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes) store_vector(row + bytes * i, load_f32(x + i));
    if (i == count) return;
    float rest[lanes] = {};
    uint8_t encoded[bytes * lanes];
    std::memcpy(rest, x + i, size_t(count - i) * sizeof(float));
    store_vector(encoded, load_f32(rest));
    std::memcpy(row + bytes * i, encoded, size_t((count - i) * bytes));
}

}  // namespace

void encode(int type, const float* x, int64_t count, uint8_t* row) {
    switch (gguf::DType(type)) {
        case gguf::DType::F16:
            return encode_row<2>(x, count, row, [](uint8_t* to, F v) { store_f16(to, v); });
        case gguf::DType::BF16:
            return encode_row<2>(x, count, row, [](uint8_t* to, F v) { store_bf16(to, v); });
        default:
            std::memcpy(row, x, size_t(count) * sizeof(float));
    }
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
