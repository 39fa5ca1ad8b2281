#include "kernels/cpu/matrix.h"

#include "kernels/cpu/packing.h"

namespace tandem::kernels::cpu {

HeldMatrix held_matrix(const Operand& operand, const Site& site, int64_t matrices) {
    graph::View view = site.view(operand);
    HeldMatrix matrix{.dtype = view.dtype,
                      .packed = is_packed(view.dtype, operand.use),
                      .data = view.data,
                      .matrices = matrices,
                      .rows = view.rows() / std::max<int64_t>(1, matrices),
                      .columns = view.row_length(),
                      .lanes = site.isa.lanes};
    if (matrix.packed)
        matrix.group_bytes =
            cpu::group_bytes(matrix.dtype, matrix.lanes, matrix.columns, matrix.data);
    return matrix;
}

int64_t HeldMatrix::matrix_bytes() const {
    return packed ? groups() * group_bytes : rows * gguf::row_bytes(dtype, columns);
}

const uint8_t* HeldMatrix::group(int64_t matrix, int64_t number) const {
    return reinterpret_cast<const uint8_t*>(data) + matrix * matrix_bytes() + number * group_bytes;
}

void HeldMatrix::row(int64_t matrix, int64_t row, float* values, const Worker& worker) const {
    const std::byte* base = data + matrix * matrix_bytes();
    const int64_t bytes = gguf::row_bytes(dtype, columns);
    if (!packed) return gguf::decode_row(dtype, base + row * bytes, {values, size_t(columns)});
    const int lane = int(row % lanes);
    auto* room = reinterpret_cast<std::byte*>(worker.scratch((bytes + 3) / 4));
    decode_rows(dtype, lanes, columns, base + row / lanes * group_bytes, lane, lane + 1, room,
                values);
}

uint8_t* product_memory(const Worker& worker) {
    return reinterpret_cast<uint8_t*>(worker.scratch(product_scratch / 4));
}

namespace {

void describe(const HeldMatrix& held, int64_t matrix, Product& product) {
    product.matrix = reinterpret_cast<const uint8_t*>(held.data + matrix * held.matrix_bytes());
    product.rows = held.rows;
    product.columns = held.columns;
}

}  // namespace

void multiply_tiles(const HeldMatrix& held, const TileForm& form, int64_t matrix, Product product,
                    const Worker& worker) {
    describe(held, matrix, product);
    product.x_stride = form.bytes();
    product.scratch = product_memory(worker);
    const MatrixKernels& kernel = *form.isa->kernels(int(held.dtype));
    form.product_of(kernel)(product);
}

void multiply(const HeldMatrix& held, const Isa& isa, int64_t matrix, Product product,
              const Worker& worker) {
    describe(held, matrix, product);
    if (held.packed) return isa.kernels(int(held.dtype))->multiply_rows(product);
    std::vector<float> values(size_t(held.columns));
    int64_t last = std::min(product.last_group * held.lanes, held.rows);
    for (int64_t row = product.first_group * held.lanes; row < last; ++row) {
        held.row(matrix, row, values.data(), worker);
        for (int64_t t = 0; t < product.tokens; ++t) {
            int64_t from = product.x_rows ? product.x_rows[t] : t;
            int64_t to = product.y_rows ? product.y_rows[t] : t;
            auto* x = reinterpret_cast<const float*>(product.x + from * product.x_stride);
            float* y = product.y + to * product.y_stride + row;
            float result = isa.dot(values.data(), x, held.columns);
            *y = product.weights ? *y + product.weights[t] * result : result;
        }
    }
}

}  // namespace tandem::kernels::cpu
