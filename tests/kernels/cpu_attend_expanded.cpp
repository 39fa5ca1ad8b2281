// Latent attention of many tokens on the CPU, between the linears that bring it to the latent and
// to values, against the reference ops.
#include <optional>
#include <random>

#include "gguf/half.h"
#include "graph/rope.h"
#include "kernels/cpu/ops/latent_heads.h"
#include "kernels/cpu_case.h"

namespace tandem {
namespace {

using gguf::DType;
using graph::Axis;
using graph::Tensor;
using test::SmallModel;

struct Case {
    DType k_b = DType::F16, v_b = DType::F16, cache = DType::F16;
    int64_t heads = 5, plain = 32, value = 48, latent = 96, cells = 700;
    double soft_cap = 0;
    bool sinks = false;
    bool rotates = false;     // second queries, between the linears; all heads were normed together
    bool own_values = false;  // the values written are not the keys
    bool from_bf16 = false;   // k_b and v_b are numbers of BF16
};

void build(SmallModel& model, const Case& how) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    Axis kv = model.axis("kv_heads", 1), heads = model.axis("q_per_kv", how.heads);
    Axis plain = model.axis("plain", how.plain), rotary = model.axis("rotary", 32);
    Axis latent = model.axis("latent", how.latent), value = model.axis("value", how.value);
    Axis slots = model.axis("slots", 2), cells = model.axis("cells", how.cells);
    Tensor rows = model.graph.state("rows", how.cache, {slots, kv, cells}, {latent});
    graph::Attention more;
    more.q = model.activation("q2", {kv, heads, rotary}, 0.3f);
    more.k = model.activation("k2", {rotary});
    more.cache = model.graph.state("rotary", how.cache, {slots, cells}, {rotary});
    more.soft_cap = how.soft_cap;
    if (how.sinks) more.sinks = model.weight("sinks", DType::F32, {kv, heads}, {});
    if (how.rotates) {
        const graph::Shape all{kv, heads, rotary};
        more.q = rms_norm(more.q, model.weight("norm2", DType::F32, all, {}), 1e-6);
    }
    Tensor raw = model.activation("c", {kv, latent});
    Tensor norm = model.weight("norm", DType::F32, {latent}, {});
    auto weight = [&](const std::string& name, DType dtype, Axis rows, Axis columns) {
        const graph::Shape shape{kv, heads, rows};
        if (!how.from_bf16) return model.weight(name, dtype, shape, {columns}, 0.3f);
        return model.weight(name, dtype, shape, {columns}, [&, dtype](std::span<std::byte> row) {
            std::vector<float> numbers(row.size() / size_t(gguf::row_bytes(dtype, 1)));
            for (float& number : numbers)
                number = gguf::bf16_to_f32(gguf::f32_to_bf16(0.3f * normal(random)));
            gguf::encode_row(dtype, numbers, row.data());
        });
    };
    Tensor q = linear(model.activation("q", {kv, heads, plain}, 0.1f),
                      weight("k_b", how.k_b, latent, plain));
    // Between them, as in models.
    Tensor c = rms_norm(raw, norm, 1e-6);
    if (how.rotates) more.q = rope(more.q, model.graph.input("positions"), {.dims = 32});
    Tensor v = how.own_values ? raw : Tensor();
    Tensor mixed = attend(q, c, v, {rows, rows}, 0.2, more);
    model.finish(linear(mixed, weight("v_b", how.v_b, value, latent)));
}

// A long prompt, then chunks behind it with tokens of another sequence, and few tokens.
std::vector<graph::StepInputs> steps() {
    graph::StepInputs both;
    const std::vector<int32_t> some(70, 3), others(90, 5);
    both.append(0, 420, some);
    both.append(1, 0, others);
    for (int32_t i = 0; i < both.tokens(); ++i) both.rows.push_back(i);
    return {test::random_step(0, 300), test::random_step(300, 120), both,
            test::random_step(490, 3)};
}

TEST(CpuAttendExpanded, AnswersAsTheThreeOperations) {
    for (const Case& how : {Case{},
                            {.cache = DType::Q8_0, .sinks = true},
                            {.k_b = DType::Q8_0, .v_b = DType::Q8_0, .soft_cap = 3},
                            {.v_b = DType::BF16, .cache = DType::Q4_0, .heads = 1},
                            {.v_b = DType::F32, .cache = DType::BF16, .plain = 64},
                            {.v_b = DType::F32, .from_bf16 = true},
                            // Of whose cells steps see few.
                            {.cells = 400000}}) {
        SCOPED_TRACE(std::string(gguf::name(how.k_b)) + ", " + std::string(gguf::name(how.cache)));
        SmallModel model;
        build(model, how);
        const double bound = how.v_b == DType::Q8_0 ? test::bound_of(how.v_b) : 1e-6;
        test::expect_close(model, steps(), bound, test::reduced_bound_of(how.v_b));
    }
}

// With fewer chunks of cells than members, and with fewer products of chunks and heads.
TEST(CpuAttendExpanded, TeamsOfEverySize) {
    SmallModel model;
    build(model, {});
    std::vector<graph::StepInputs> all = steps();
    for (int32_t count : {70, 100, 129}) all.push_back(test::random_step(0, count));
    for (const test::Machine& machine : test::machines()) {
        const auto expected = model.run(test::make_cpu({machine.variant, 1}), all);
        for (int threads : {2, 7, 24})
            EXPECT_EQ(model.run(test::make_cpu({machine.variant, threads}), all), expected)
                << machine.variant << " with " << threads << " threads";
    }
}

// Heads whose keys and values take more memory than there is are made some at a time. Few tokens
// at once go the other way.
TEST(CpuAttendExpanded, MoreHeadsThanHaveRoom) {
    const Case how{.heads = 56, .plain = 32, .value = 16, .latent = 64, .cells = 30000};
    SmallModel model;
    build(model, how);
    kernels::cpu::ops::LatentShape shape;
    shape.heads = how.heads, shape.plain = how.plain, shape.value = how.value;
    shape.cells = how.cells;
    constexpr int32_t cached = 29000, count = 64, few = 8;
    ASSERT_LT(shape.heads_at_once(cached + count), how.heads);
    std::vector<graph::StepInputs> in_parts;
    const graph::StepInputs whole = test::random_step(cached, count);
    for (int32_t first = 0; first < count; first += few) {
        graph::StepInputs step;
        step.append(0, cached + first, std::span(whole.ids).subspan(size_t(first), few));
        for (int32_t i = 0; i < few; ++i) step.rows.push_back(i);
        in_parts.push_back(step);
    }
    const test::Machine machine{"", 3};
    EXPECT_LE(test::nmse(model.run(test::make_cpu(machine), {whole}),
                         model.run(test::make_cpu(machine), in_parts)),
              1e-6);
}

// Each of two devices reads its head of a result that stays inside, which both have whole.
TEST(CpuAttendExpanded, ReadsARangeOfAnInnerResult) {
    SmallModel model;
    build(model, {.heads = 2, .rotates = true});
    const auto expected =
        model.run(std::make_unique<kernels::ReferenceDevice>("reference", 0), steps());
    std::vector<std::unique_ptr<kernels::Device>> devices;
    for (int i = 0; i < 2; ++i) devices.push_back(test::make_cpu({"", 2}));
    EXPECT_LE(test::nmse(model.run(std::move(devices), "tensor", steps()), expected), 1e-6);
}

// In a context of any length, as many heads at a time as have room with the cells that are seen.
TEST(CpuAttendExpanded, HeadsAtOnce) {
    kernels::cpu::ops::LatentShape deepseek;
    deepseek.heads = 16, deepseek.plain = deepseek.value = 128, deepseek.cells = 131072;
    EXPECT_EQ(deepseek.heads_at_once(512), 16);
    EXPECT_EQ(deepseek.heads_at_once(17000), 8);
    EXPECT_EQ(deepseek.heads_at_once(131072), 2);
    for (int64_t seen = 1; seen <= deepseek.cells; seen += 77)
        EXPECT_LE(deepseek.heads_at_once(seen) * deepseek.head_bytes(seen), deepseek.room_bytes());
}

// Where a step has many tokens for the cells that it sees.
TEST(CpuAttendExpanded, PaysOff) {
    kernels::cpu::ops::LatentShape deepseek;
    deepseek.plain = deepseek.value = 128, deepseek.rotary = 64, deepseek.latent = 512;
    const auto pays = [&](int32_t cached, int32_t count) {
        return heads_pay_off(deepseek, test::random_step(cached, count).of_tokens());
    };
    EXPECT_TRUE(pays(4096, 512));
    EXPECT_TRUE(pays(0, 512));
    EXPECT_TRUE(pays(0, 100));
    EXPECT_FALSE(pays(0, 60));  // turning k_b takes longer than that saves
    EXPECT_FALSE(pays(0, 0));
    EXPECT_FALSE(pays(4096, 128));
    EXPECT_FALSE(pays(4096, 1));
    kernels::cpu::ops::LatentShape small;
    small.plain = 32, small.value = 48, small.rotary = 32, small.latent = 96;
    for (const graph::StepInputs& step : steps())
        EXPECT_EQ(heads_pay_off(small, step.of_tokens()), step.tokens() > 3);
}

// What the launch takes of scratch memory; none: there is no such launch.
std::optional<int64_t> scratch_of(const SmallModel& model, int64_t tokens,
                                  kernels::cpu::ops::LatentShape* shape = nullptr) {
    const parallel::Programs programs = model.programs(*test::make_cpu({"", 1}), 512);
    for (const auto& item : programs.body[fitting(programs.body, tokens)].items)
        for (const kernels::Launch& launch : std::get<parallel::Segment>(item).launches)
            if (launch.kernel->name == "attend.expanded") {
                if (shape) *shape = kernels::cpu::ops::LatentShape(launch.operations);
                return launch.scratch_bytes;
            }
    return {};
}
bool expands(const SmallModel& model, int64_t tokens) { return bool(scratch_of(model, tokens)); }

// Heads, and the results that only the other way has, are never there at once.
TEST(CpuAttendExpanded, HasMemoryForOneWay) {
    const Case how{.cells = 400000};
    SmallModel model;
    build(model, how);
    kernels::cpu::ops::LatentShape shape;
    const std::optional<int64_t> bytes = scratch_of(model, 512, &shape);
    const int64_t between = 512 * how.latent * 4;  // the norm
    EXPECT_EQ(bytes, between + shape.bytes());
}

// Few tokens go the other way, and so do caches of F32, which are there for whom rounding bothers,
// and values of their own.
TEST(CpuAttendExpanded, IsForManyTokensAndRoundedRows) {
    SmallModel rounded, exact, apart;
    build(rounded, {});
    build(exact, {.cache = DType::F32});
    build(apart, {.own_values = true});
    EXPECT_TRUE(expands(rounded, 512));
    EXPECT_FALSE(expands(rounded, 8));
    EXPECT_FALSE(expands(exact, 512));
    EXPECT_FALSE(expands(apart, 512));
}

}  // namespace
}  // namespace tandem
