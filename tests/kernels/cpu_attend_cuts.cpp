// Attention on the CPU where each of several devices has some of a head's queries: how many of them
// stand together in a block or in a tile changes no result.
#include "kernels/attend_case.h"
#include "kernels/cpu_case.h"

namespace tandem {
namespace {

using gguf::DType;
using test::SmallModel;

struct Case {
    int64_t q_per_kv, window = 0, cells = 1400, d = 64, dv = d, kv_heads = 1, slots = 1;
    DType keys = DType::F16, values = keys;
    double soft_cap = 0, spread = 1.5;
    bool sinks = false;
};

// Results of two and of five devices are off by no more than `bound` from those of one.
void expect_same(const Case& how, const std::vector<graph::StepInputs>& steps, double bound) {
    SmallModel model;
    test::build_attend(model, how);
    for (const char* variant : {"", "avx2", "portable"}) {
        if (!kernels::cpu::find_variant(variant)) continue;
        const auto expected = model.run(test::make_cpu({variant, 1}), steps);
        for (int count : {2, 5}) {
            std::vector<std::unique_ptr<kernels::Device>> devices;
            for (int i = 0; i < count; ++i) devices.push_back(test::make_cpu({variant, 1}));
            const auto found = model.run(std::move(devices), "tensor", steps);
            EXPECT_LE(test::nmse(found, expected), bound)
                << gguf::name(how.keys) << ", window " << how.window << ", " << how.q_per_kv
                << " queries of a head on " << count << " devices " << variant;
        }
    }
}

constexpr DType types[] = {DType::F16, DType::BF16, DType::Q8_0, DType::Q4_0, DType::F32};

// Few queries are rounded otherwise than many, by all there are on all devices; sums of few have
// another order.
TEST(CpuAttendCuts, FewQueriesAndMany) {
    for (int64_t window : {0, 100})
        for (DType type : types)
            for (int64_t q_per_kv : {5, 8, 40}) {
                std::vector<graph::StepInputs> steps{test::random_step(0, 300)};
                for (int tokens : {1, 2, 3, 8, 20}) steps.push_back(test::random_step(300, tokens));
                expect_same({.q_per_kv = q_per_kv, .window = window, .keys = type}, steps, 1e-12);
            }
}

// Prompts keep every bit. Windows begin anywhere in a ring of as few cells as may be, which goes
// round several times.
constexpr int32_t most_tokens = 150;
constexpr Case prompts[] = {
    {.q_per_kv = 8},
    {.q_per_kv = 5, .window = 9, .cells = 9 + most_tokens - 1},
    {.q_per_kv = 8, .window = 128, .cells = 128 + most_tokens - 1, .sinks = true},
    {.q_per_kv = 40, .window = 70, .cells = 70 + most_tokens - 1, .sinks = true},
    {.q_per_kv = 6, .window = 300, .cells = 300 + most_tokens - 1, .dv = 96, .soft_cap = 3},
};

TEST(CpuAttendCuts, Prompts) {
    for (Case how : prompts)
        for (DType type : types) {
            how.keys = how.values = type;
            std::vector<graph::StepInputs> steps;
            int32_t cached = 0;
            for (int32_t tokens : {150, 149, 130, 150, 60}) {
                steps.push_back(test::random_step(cached, tokens));
                cached += tokens;
            }
            expect_same(how, steps, 0);
        }
}

}  // namespace
}  // namespace tandem
