// The matrix kernels of one core: bytes of weights per second for one token and for four,
// multiply-adds per second for many. `build/bench/bench_kernel --benchmark_filter=Q4_0`
#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>
#include <vector>

#include "gguf/dtype.h"
#include "gguf/half.h"
#include "kernels/cpu/forms.h"
#include "kernels/cpu/packing.h"
#include "kernels/cpu/short_bf16.h"
#include "kernels/cpu/variants.h"
#include "kernels/storage.h"

namespace {

using namespace tandem;
using gguf::DType;

constexpr int64_t columns = 2048;

uint8_t* bytes(kernels::Buffer& buffer) { return reinterpret_cast<uint8_t*>(buffer.data()); }

// `from_bf16`: weights are numbers of BF16.
void run(benchmark::State& state, const kernels::cpu::Isa& isa, DType dtype, bool from_bf16,
         int64_t rows, int64_t tokens) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<float> values(columns);
    for (float& value : values) {
        value = normal(random);
        if (from_bf16) value = gguf::bf16_to_f32(gguf::f32_to_bf16(value));
    }
    std::vector<std::byte> row(size_t(gguf::row_bytes(dtype, columns)));
    if (gguf::traits(dtype).encode)
        gguf::encode_row(dtype, values, row.data());
    else  // bytes whose scales are numbers
        std::fill(row.begin(), row.end(), std::byte{0x35});
    std::vector<const std::byte*> same(size_t(isa.lanes), row.data());
    const int64_t groups = rows / isa.lanes;
    int64_t group = kernels::cpu::group_bytes(dtype, isa.lanes, columns);
    std::vector<std::byte> packed(static_cast<size_t>(group));
    kernels::cpu::pack_group(dtype, isa.lanes, columns, same.data(), packed.data());
    if (from_bf16 && isa.keeps_short_bf16) {  // as devices keep them
        group = kernels::cpu::short_group_bytes(isa.lanes, columns);
        std::vector<std::byte> bf16(size_t(2 * isa.lanes * columns)), shorter(size_t(group), {});
        const std::byte* const plain = packed.data() + sizeof(kernels::cpu::FloatHead);
        if (!kernels::cpu::narrow(dtype, plain, isa.lanes * columns, bf16.data()) ||
            !kernels::cpu::shorten(isa.lanes, columns, bf16.data(), shorter.data()))
            return state.SkipWithError("weights without room");
        packed = shorter;
    }
    // In pages like those of a device's weights: small ones can take a third of the rate.
    kernels::Buffer matrix(group * groups);
    for (int64_t i = 0; i < groups; ++i)
        std::copy_n(packed.data(), group, matrix.data() + i * group);

    const kernels::cpu::MatrixKernels& kernel = *isa.kernels(int(dtype));
    const kernels::cpu::TileForm form = kernels::cpu::tile_form_for(isa, dtype, columns);
    const bool tiles = tokens > kernels::cpu::most_tokens_in_rows;
    const int64_t block = kernel.block;
    int64_t stride = tiles   ? form.bytes()
                     : block ? kernels::cpu::q8_row(columns, block).bytes
                             : columns * 4;
    kernels::Buffer x(stride * (tiles ? kernels::cpu::tiles_of(tokens) : tokens));
    for (int64_t t = 0; t < tokens; ++t)
        if (tiles)
            form.place(values.data(), bytes(x) + t / kernels::cpu::tile_tokens * stride,
                       int(t % kernels::cpu::tile_tokens));
        else if (block)
            isa.quantize(values.data(), columns, block, bytes(x) + t * stride);
        else
            std::copy(values.begin(), values.end(),
                      reinterpret_cast<float*>(bytes(x) + t * stride));
    // Aligned as devices have it: large results go past caches then.
    kernels::Buffer y(rows * tokens * 4);
    kernels::Buffer scratch(kernels::cpu::product_scratch);
    kernels::cpu::Product product{.matrix = bytes(matrix),
                                  .rows = rows,
                                  .columns = columns,
                                  .last_group = groups,
                                  .x = bytes(x),
                                  .x_stride = stride,
                                  .tokens = tokens,
                                  .y = reinterpret_cast<float*>(bytes(y)),
                                  .y_stride = rows,
                                  .scratch = bytes(scratch)};
    auto* multiply = tiles ? form.product_of(kernel) : kernel.multiply_rows;
    for (auto _ : state) multiply(product);
    state.counters["bytes/s"] = benchmark::Counter(
        double(group * groups) * double(state.iterations()), benchmark::Counter::kIsRate);
    state.counters["mac/s"] = benchmark::Counter(
        double(rows * columns * tokens) * double(state.iterations()), benchmark::Counter::kIsRate);
}

// Both limits of one core.
void limit(benchmark::State& state, const kernels::cpu::Isa& isa, bool stream) {
    kernels::Buffer memory(int64_t(1) << 28);
    std::fill_n(memory.data(), memory.bytes(), std::byte{1});
    for (auto _ : state)
        if (stream)
            benchmark::DoNotOptimize(isa.stream(bytes(memory), memory.bytes()));
        else
            benchmark::DoNotOptimize(isa.integer_work(1'000'000));
    double work = stream ? double(memory.bytes()) : 1e6 * double(isa.integer_products());
    state.counters[stream ? "bytes/s" : "mac/s"] =
        benchmark::Counter(work * double(state.iterations()), benchmark::Counter::kIsRate);
}

// As text, as a step of some sequences, and as prompts.
void add(const std::string& name, const kernels::cpu::Isa& isa, DType dtype, bool from_bf16) {
    auto one = [&](const char* what, int64_t rows, int64_t tokens) {
        benchmark::RegisterBenchmark((name + what).c_str(), [=, &isa](auto& state) {
            run(state, isa, dtype, from_bf16, rows, tokens);
        });
    };
    constexpr int64_t many = 65536;  // do not fit a cache
    one("/decode", many, 1);
    one("/step", many, 4);
    one("/prefill", 2048, 512);
    one("/short_prefill", 2048, 64);
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
             {DType::Q4_0,    DType::Q4_1,   DType::Q5_0,    DType::Q5_1,   DType::Q6_0,
              DType::Q8_0,    DType::IQ4_NL, DType::MXFP4,   DType::NVFP4,  DType::Q2_K,
              DType::Q3_K,    DType::Q4_K,   DType::Q5_K,    DType::Q6_K,   DType::IQ4_XS,
              DType::IQ1_S,   DType::IQ1_M,  DType::IQ2_XXS, DType::IQ2_XS, DType::IQ2_S,
              DType::IQ3_XXS, DType::IQ3_S,  DType::TQ2_0,   DType::Q1_0,   DType::Q2_0,
              DType::IQ2_K,   DType::IQ3_K,  DType::IQ4_K,   DType::IQ5_K,  DType::IQ6_K,
              DType::IQ2_KS,  DType::IQ3_KS, DType::IQ4_KS,  DType::IQ5_KS, DType::IQ2_KL,
              DType::IQ1_KT,  DType::IQ2_KT, DType::IQ3_KT,  DType::IQ4_KT, DType::F16,
              DType::BF16,    DType::F32})
            add(prefix + std::string(gguf::name(dtype)), isa, dtype, dtype == DType::BF16);
        for (const DType dtype : {DType::F16, DType::F32})
            add(prefix + std::string(gguf::name(dtype)) + "_from_BF16", isa, dtype, true);
    }
    return 0;
}

const int registered = add_all();

}  // namespace
