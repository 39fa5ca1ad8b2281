// The matrix kernels of one core: bytes of weights per second for one token and for four,
// multiply-adds per second for many. `build/bench/bench_kernel --benchmark_filter=Q4_0`
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "gguf/dtype.h"
#include "kernels/cpu/forms.h"
#include "kernels/cpu/isa.h"
#include "kernels/cpu/packing.h"

namespace {

using namespace tandem;
using gguf::DType;

constexpr int64_t columns = 2048;

// Bytes that begin where a cache line does.
class CacheLines {
  public:
    explicit CacheLines(int64_t count) : bytes_(size_t(count + 64)) {}
    uint8_t* data() {
        return bytes_.data() + (64 - reinterpret_cast<uintptr_t>(bytes_.data()) % 64) % 64;
    }

  private:
    std::vector<uint8_t> bytes_;
};

void run(benchmark::State& state, const kernels::cpu::Isa& isa, DType dtype, int64_t rows,
         int64_t tokens) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<float> values(columns);
    for (float& value : values) value = normal(random);
    std::vector<std::byte> row(size_t(gguf::row_bytes(dtype, columns)));
    gguf::encode_row(dtype, values, row.data());
    std::vector<const std::byte*> same(size_t(isa.lanes), row.data());
    int64_t group = kernels::cpu::group_bytes(dtype, isa.lanes, columns), groups = rows / isa.lanes;
    std::vector<std::byte> matrix(size_t(group * groups));
    for (int64_t i = 0; i < groups; ++i)
        kernels::cpu::pack_group(dtype, isa.lanes, columns, same.data(),
                                 &matrix[size_t(i * group)]);

    const kernels::cpu::Matrix& kernel = *isa.matrix(int(dtype));
    const kernels::cpu::TileForm form = kernels::cpu::tile_form_for(isa, dtype, columns);
    const bool tiles = tokens > kernels::cpu::most_tokens_in_rows;
    const int64_t block = kernel.block;
    int64_t stride = tiles   ? form.bytes()
                     : block ? kernels::cpu::q8_row(columns, block).bytes
                             : columns * 4;
    CacheLines x(stride * (tiles ? kernels::cpu::tiles_of(tokens) : tokens));
    for (int64_t t = 0; t < tokens; ++t)
        if (tiles)
            form.place(values.data(), x.data() + t / kernels::cpu::tile_tokens * stride,
                       int(t % kernels::cpu::tile_tokens));
        else if (block)
            isa.quantize(values.data(), columns, block, x.data() + t * stride);
        else
            std::copy(values.begin(), values.end(),
                      reinterpret_cast<float*>(x.data() + t * stride));
    std::vector<float> y(size_t(rows * tokens));
    CacheLines scratch(kernels::cpu::product_scratch);
    kernels::cpu::Product product{.matrix = reinterpret_cast<const uint8_t*>(matrix.data()),
                                  .rows = rows,
                                  .columns = columns,
                                  .last_group = groups,
                                  .x = x.data(),
                                  .x_stride = stride,
                                  .tokens = tokens,
                                  .y = y.data(),
                                  .y_stride = rows,
                                  .scratch = scratch.data()};
    auto* multiply = tiles ? form.product_of(kernel) : kernel.multiply_rows;
    for (auto _ : state) multiply(product);
    state.counters["bytes/s"] = benchmark::Counter(
        double(group * groups) * double(state.iterations()), benchmark::Counter::kIsRate);
    state.counters["mac/s"] = benchmark::Counter(
        double(rows * columns * tokens) * double(state.iterations()), benchmark::Counter::kIsRate);
}

// Both limits of one core.
void limit(benchmark::State& state, const kernels::cpu::Isa& isa, bool stream) {
    std::vector<uint8_t> memory(size_t(1) << 28, 1);
    for (auto _ : state)
        if (stream)
            benchmark::DoNotOptimize(isa.stream(memory.data(), int64_t(memory.size())));
        else
            benchmark::DoNotOptimize(isa.integer_work(1'000'000));
    double work = stream ? double(memory.size()) : 1e6 * double(isa.integer_products());
    state.counters[stream ? "bytes/s" : "mac/s"] =
        benchmark::Counter(work * double(state.iterations()), benchmark::Counter::kIsRate);
}

int add_all() {
    for (const char* name : {"amx", "avx512bf16", "avx512", "avxvnni", "avx2", "portable"}) {
        const kernels::cpu::Variant* variant = kernels::cpu::find_variant(name);
        if (!variant) continue;
        const kernels::cpu::Isa& isa = variant->isa();
        std::string prefix = std::string(name) + "/";
        for (bool stream : {true, false})
            benchmark::RegisterBenchmark(
                (prefix + "limit/" + (stream ? "decode" : "prefill")).c_str(),
                [&isa, stream](auto& state) { limit(state, isa, stream); });
        for (DType dtype :
             {DType::Q4_0,    DType::Q4_1,   DType::Q5_0,   DType::Q5_1,    DType::Q8_0,
              DType::IQ4_NL,  DType::MXFP4,  DType::Q2_K,   DType::Q3_K,    DType::Q4_K,
              DType::Q5_K,    DType::Q6_K,   DType::IQ4_XS, DType::IQ1_S,   DType::IQ1_M,
              DType::IQ2_XXS, DType::IQ2_XS, DType::IQ2_S,  DType::IQ3_XXS, DType::IQ3_S,
              DType::F16,     DType::BF16,   DType::F32}) {
            std::string type(gguf::name(dtype));
            // 64 k rows do not fit a cache.
            benchmark::RegisterBenchmark(
                (prefix + type + "/decode").c_str(),
                [&isa, dtype](auto& state) { run(state, isa, dtype, 65536, 1); });
            benchmark::RegisterBenchmark(
                (prefix + type + "/step").c_str(),
                [&isa, dtype](auto& state) { run(state, isa, dtype, 65536, 4); });
            benchmark::RegisterBenchmark(
                (prefix + type + "/prefill").c_str(),
                [&isa, dtype](auto& state) { run(state, isa, dtype, 2048, 512); });
        }
    }
    return 0;
}

const int registered = add_all();

}  // namespace
