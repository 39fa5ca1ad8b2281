// Where products of prompts put what they found: results too large for a middle cache go past it.
#include <random>

#include "gguf/dtype.h"
#include "kernels/cpu_case.h"
#include "kernels/cpu_product.h"

namespace tandem {
namespace {

using gguf::DType;

// 1040 tokens have 4.3 MB of results, which go past caches, and the first 200 of them 0.8 MB.
TEST(CpuResults, PastCachesAreTheSame) {
    constexpr int64_t rows = 1040, columns = 64, tokens = 1040, fewer = 200;
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    auto random_rows = [&](int64_t count) {
        std::vector<std::vector<float>> all(static_cast<size_t>(count));
        for (std::vector<float>& row : all)
            for (int64_t k = 0; k < columns; ++k) row.push_back(normal(random));
        return all;
    };
    const std::vector<std::vector<float>> weights = random_rows(rows), x = random_rows(tokens);
    for (const test::Machine& machine : test::machines())
        for (DType dtype : {DType::Q4_0, DType::F16}) {
            const kernels::cpu::Isa& isa = kernels::cpu::find_variant(machine.variant)->isa();
            std::vector<std::vector<std::byte>> encoded;
            for (const std::vector<float>& row : weights) {
                encoded.emplace_back(size_t(gguf::row_bytes(dtype, columns)));
                gguf::encode_row(dtype, row, encoded.back().data());
            }
            const std::vector<float> all = test::product_of(isa, dtype, encoded, x);
            const std::vector<float> some =
                test::product_of(isa, dtype, encoded, {x.begin(), x.begin() + fewer});
            for (size_t i = 0; i < some.size(); ++i)
                ASSERT_EQ(some[i], all[i]) << machine.variant << ' ' << gguf::name(dtype);
            double last = 0;
            for (int64_t k = 0; k < columns; ++k)
                last += double(weights.back()[size_t(k)]) * double(x.back()[size_t(k)]);
            EXPECT_NEAR(all.back(), last, 0.5) << machine.variant << ' ' << gguf::name(dtype);
        }
}

}  // namespace
}  // namespace tandem
