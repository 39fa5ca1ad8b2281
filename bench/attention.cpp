// The attention kernels of one core over 4096 cells that come from memory: multiply-adds per second
// with all queries, and bytes of the caches; and many queries of tokens that look through a window.
// `build/bench/bench_attention --benchmark_filter=F16`
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "gguf/dtype.h"
#include "kernels/cpu/variants.h"
#include "kernels/storage.h"

namespace {

using namespace tandem;
using gguf::DType;
using kernels::cpu::CacheHead;

// One kv head. With second keys, a row of the latent is both key and value (DeepSeek-V2).
struct Shape {
    const char* name;
    int64_t key, second, value;
};
constexpr Shape shapes[] = {{"64", 64, 0, 64}, {"128", 128, 0, 128}, {"latent", 512, 64, 512}};
constexpr int64_t cells = 4096;

// Caches of several heads, one after the other, so that a call finds its own in memory.
struct Caches {
    CacheHead head;  // the first
    int64_t bytes, count;
    kernels::Buffer memory;

    Caches(DType dtype, int64_t length, std::mt19937& random)
        : head{.stride = gguf::row_bytes(dtype, length),
               .cells = cells,
               .type = int(dtype),
               .length = length},
          bytes(head.stride * cells),
          count(bytes > 0 ? (int64_t(96) << 20) / bytes + 1 : 0),
          memory(bytes * count) {
        std::normal_distribution<float> normal;
        std::vector<float> row(size_t(length), 0);
        for (int64_t cell = 0; cell < cells; ++cell) {
            for (float& value : row) value = normal(random);
            gguf::encode_row(dtype, row, memory.data() + cell * head.stride);
        }
        for (int64_t i = 1; i < count; ++i)
            std::copy_n(memory.data(), bytes, memory.data() + i * bytes);
    }
    CacheHead of(int64_t number) const {
        CacheHead one = head;
        one.rows = reinterpret_cast<const uint8_t*>(memory.data()) + number % count * bytes;
        return one;
    }
};

// [queries][length], and where each begins.
struct ManyRows {
    std::vector<float> values;
    std::vector<float*> rows;

    ManyRows(int64_t queries, int64_t length, std::mt19937& random)
        : values(size_t(queries * length)), rows(size_t(queries)) {
        std::normal_distribution<float> normal;
        for (float& value : values) value = normal(random);
        for (int64_t i = 0; i < queries; ++i) rows[size_t(i)] = values.data() + i * length;
    }
};

// Of tokens with `per_token` queries each; each sees a window of cells that ends with its own, or
// where that is 0, all cells.
struct Queries {
    int64_t count, per_token = 1, window = 0;
};

void run(benchmark::State& state, const kernels::cpu::Isa& isa, DType dtype, const Shape& shape,
         const Queries& of, bool few) {
    const int64_t queries = of.count, tokens = queries / of.per_token;
    std::mt19937 random(1);
    const Caches keys(dtype, shape.key, random), values(dtype, shape.value, random);
    const Caches seconds(dtype, shape.second, random);
    ManyRows q(queries, shape.key, random), q2(queries, shape.second, random);
    ManyRows out(queries, shape.value, random);
    const auto count = size_t(queries);
    std::vector<int32_t> first(count, 0), last(count, cells);
    std::vector<float> most(count), total(count);
    kernels::Buffer scratch(4 *
                            kernels::cpu::attention_scratch(shape.key + shape.second, shape.value));
    kernels::cpu::Attention attention{.queries = queries,
                                      .q = q.rows.data(),
                                      .q2 = q2.rows.data(),
                                      .first = first.data(),
                                      .last = last.data(),
                                      .scale = float(1 / std::sqrt(double(shape.key))),
                                      .out = out.rows.data(),
                                      .most = most.data(),
                                      .total = total.data(),
                                      .scratch = reinterpret_cast<float*>(scratch.data())};
    auto look_through_windows = [&] {
        for (int64_t position = of.window; position < cells; position += tokens) {
            for (size_t i = 0; i < count; ++i) {
                last[i] = int32_t(position + int64_t(i) / of.per_token + 1);
                first[i] = last[i] - int32_t(of.window);
            }
            attention.begin = first.front();
            attention.end = last.back();
            isa.attend_block(attention);
        }
    };
    int64_t number = 0;
    for (auto _ : state) {
        attention.k = keys.of(number);
        attention.v = shape.second ? attention.k : values.of(number);
        if (shape.second) attention.k2 = seconds.of(number);
        ++number;
        if (of.window > 0) {
            look_through_windows();
            continue;
        }
        // Caches are read in parts where there are few tokens.
        const int64_t part = queries <= 32 ? kernels::cpu::attention_part : cells;
        for (attention.begin = 0; attention.begin < cells; attention.begin += part) {
            attention.end = attention.begin + part;
            few ? isa.attend_few(attention) : isa.attend_block(attention);
        }
    }
    const double calls = double(state.iterations());
    const int64_t seen =
        of.window > 0 ? (cells - of.window) * of.per_token * of.window : queries * cells;
    const int64_t products = (shape.key + shape.second + shape.value) * seen;
    const int64_t read = shape.second ? keys.bytes + seconds.bytes : keys.bytes + values.bytes;
    state.counters["mac/s"] =
        benchmark::Counter(double(products) * calls, benchmark::Counter::kIsRate);
    state.counters["bytes/s"] =
        benchmark::Counter(double(read) * calls, benchmark::Counter::kIsRate);
}

int add_all() {
    for (const char* name : {"avx512", "avx2", "portable"}) {
        const kernels::cpu::Variant* variant = kernels::cpu::find_variant(name);
        if (!variant) continue;
        const kernels::cpu::Isa& isa = variant->isa();
        for (DType dtype : {DType::F16, DType::BF16, DType::Q8_0, DType::Q4_0, DType::F32})
            for (const Shape& shape : shapes) {
                const std::string of_shape =
                    std::string(name) + "/" + std::string(gguf::name(dtype)) + "/" + shape.name;
                auto add = [&](const std::string& which, const Queries& queries, bool few) {
                    benchmark::RegisterBenchmark((of_shape + "/" + which).c_str(),
                                                 [&isa, dtype, &shape, queries, few](auto& state) {
                                                     run(state, isa, dtype, shape, queries, few);
                                                 });
                };
                for (int64_t queries : {1, 4, 8, 16, 32, 256})
                    add(std::to_string(queries), {queries},
                        queries <= kernels::cpu::attention_few_queries && shape.second == 0);
                for (int64_t window : {128, 512})
                    if (shape.second == 0)
                        add("window" + std::to_string(window), {256, 8, window}, false);
            }
    }
    return 0;
}

const int registered = add_all();

}  // namespace
