// Functions of one number on the CPU against those of the standard library, in every variant.
#include <bit>
#include <cmath>
#include <limits>

#include "kernels/cpu_case.h"

namespace tandem {
namespace {

using kernels::cpu::Isa;
using kernels::cpu::Map;

std::vector<float> numbers() {
    std::vector<float> all;
    for (float x = -120; x < 120; x += 0.37f) all.push_back(x);
    for (float x = 1e-30f; x < 1e30f; x *= 7) {
        all.push_back(x);
        all.push_back(-x);
    }
    constexpr float infinity = std::numeric_limits<float>::infinity();
    for (float x : {0.0f, infinity, -infinity, std::nanf("")}) all.push_back(x);
    return all;
}

struct Case {
    const char* name;
    Map* Isa::*map;
    double (*expected)(double x);
    double relative, absolute;  // what it may be off
};
constexpr float parameter = 3;
const Case cases[] = {
    {"scale", &Isa::scale, [](double x) { return parameter * x; }, 1e-7, 0},
    {"exp", &Isa::exp, [](double x) { return double(std::exp(float(x))); }, 3e-7, 3e-45},
    {"sigmoid", &Isa::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, 3e-7, 1e-37},
    {"softplus", &Isa::softplus,
     [](double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }, 3e-7,
     2e-37},
    {"soft_cap", &Isa::soft_cap, [](double x) { return parameter * std::tanh(x / parameter); },
     2e-7, 1e-6}};

TEST(CpuMaps, AreWhatTheStandardLibrarySays) {
    const std::vector<float> x = numbers();
    for (const test::Machine& machine : test::machines())
        for (const Case& how : cases) {
            std::vector<float> y(x.size());
            (kernels::cpu::find_variant(machine.variant)->isa().*how.map)(
                x.data(), y.data(), int64_t(x.size()), parameter);
            for (size_t i = 0; i < x.size(); ++i) {
                const double expected = how.expected(x[i]);
                if (std::isnan(expected) || std::isinf(expected))
                    EXPECT_TRUE(std::isnan(expected) ? std::isnan(y[i]) : y[i] == expected)
                        << machine.variant << " " << how.name << " of " << x[i] << ": " << y[i];
                else
                    EXPECT_NEAR(y[i], expected, how.relative * std::abs(expected) + how.absolute)
                        << machine.variant << " " << how.name << " of " << x[i];
            }
        }
}

// Calls run(from, to, y) for all of an array and for two parts of it, and compares what they give.
template <typename Run>
void expect_same_bits_in_parts(size_t count, const std::string& what, Run run) {
    const size_t cut = count / 2 - 3;
    std::vector<float> whole(count), parts(count);
    run(0, count, whole.data());
    run(0, cut, parts.data());
    run(cut, count, parts.data() + cut);
    for (size_t i = 0; i < count; ++i)
        EXPECT_EQ(std::bit_cast<uint32_t>(whole[i]), std::bit_cast<uint32_t>(parts[i]))
            << what << ", number " << i;
}

TEST(CpuMaps, GiveTheSameBitsWhereverAnArrayIsCut) {
    const std::vector<float> x = numbers(), reversed(x.rbegin(), x.rend());
    for (const test::Machine& machine : test::machines()) {
        const Isa& isa = kernels::cpu::find_variant(machine.variant)->isa();
        for (const Case& how : cases)
            expect_same_bits_in_parts(
                x.size(), machine.variant + " " + how.name, [&](size_t from, size_t to, float* y) {
                    (isa.*how.map)(x.data() + from, y, int64_t(to - from), parameter);
                });
        for (auto unit : {isa.silu_mul, isa.gelu_mul, isa.clamped_swiglu})
            expect_same_bits_in_parts(
                x.size(), machine.variant + " unit", [&](size_t from, size_t to, float* y) {
                    unit(x.data() + from, reversed.data() + from, y, int64_t(to - from));
                });
    }
}

// Wherever one stands in an array, in a vector or behind them.
TEST(CpuMaps, UnitsAndSoftMaximaKeepNaN) {
    constexpr size_t count = 37;
    for (const test::Machine& machine : test::machines()) {
        const Isa& isa = kernels::cpu::find_variant(machine.variant)->isa();
        for (size_t spoiled : {size_t(0), size_t(3), count - 1}) {
            std::vector<float> sound(count, 0.5f), bad = sound, y(count);
            bad[spoiled] = std::nanf("");
            for (auto unit : {isa.silu_mul, isa.gelu_mul, isa.clamped_swiglu})
                for (bool gate : {false, true}) {
                    unit(gate ? bad.data() : sound.data(), gate ? sound.data() : bad.data(),
                         y.data(), count);
                    for (size_t i = 0; i < count; ++i)
                        EXPECT_EQ(std::isnan(y[i]), i == spoiled) << machine.variant << " " << i;
                }
            isa.softmax(bad.data(), y.data(), count);
            for (size_t i = 0; i < count; ++i) EXPECT_TRUE(std::isnan(y[i])) << machine.variant;
        }
    }
}

}  // namespace
}  // namespace tandem
