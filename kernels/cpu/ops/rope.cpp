// rope on the CPU: cos and sin of a token's position once for all heads of queries and keys.
#include "graph/rope.h"

#include <algorithm>
#include <complex>
#include <span>

#include "kernels/cpu/forms.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/site.h"

namespace tandem::kernels::cpu::ops {

namespace {

bool in_rows(const Operation& operation) {
    return is(operation, "rope") && as_rows(operation.inputs[0].view, 1) &&
           as_rows(operation.output.view, 1);
}

// Neighbours that turn by the same angles, as queries and keys do, are one launch.
size_t claim(std::span<const Operation> ahead) {
    auto input = [](const Operation& operation, size_t i) {
        return operation.inputs[i] ? operation.node->inputs[i].value : -1;
    };
    size_t count = 0;
    for (const Operation& operation : ahead) {
        if (!in_rows(operation)) break;
        if (input(operation, 1) != input(ahead[0], 1)) break;
        if (input(operation, 2) != input(ahead[0], 2)) break;
        if (rope_of(*operation.node) != rope_of(*ahead[0].node)) break;
        // One that turns what another has turned comes after it.
        auto turned = ahead.first(count);
        if (std::any_of(turned.begin(), turned.end(), [&](const Operation& earlier) {
                return earlier.node->output.value == operation.node->inputs[0].value;
            }))
            break;
        ++count;
    }
    return count;
}

// Pairs (i, i + dims/2), or neighbours.
template <bool halves>
void turn(int dims, const float* cosines, const float* sines, const float* x, float* y) {
    const int pairs = dims / 2, apart = halves ? pairs : 1, step = halves ? 1 : 2;
    // x may be y, but what one pair reads no other writes.
#pragma GCC ivdep
    for (int i = 0; i < pairs; ++i) {
        const float first = x[i * step], second = x[i * step + apart];
        y[i * step] = first * cosines[i] - second * sines[i];
        y[i * step + apart] = first * sines[i] + second * cosines[i];
    }
}

struct Turned {
    Rows from, to;
};

// cos and sin of the angles of any position: those of a multiple of `span` are turned on by one of
// `span` steps, which are known beforehand.
class Turns {
  public:
    explicit Turns(std::vector<double> angles, double magnitude)
        : angles_(std::move(angles)), magnitude_(magnitude) {
        for (int64_t step = 0; step < span; ++step)
            for (double angle : angles_) steps_.push_back(std::polar(1.0, double(step) * angle));
    }

    int64_t count() const { return int64_t(angles_.size()); }

    using Number = std::complex<double>;

    // Those of a multiple of `span`, which many positions need one after another.
    struct Base {
        int64_t begin = -1;
        Number* numbers = nullptr;  // [count()]
    };

    void at(int64_t position, Base& base, float* cosines, float* sines) const {
        const int64_t begin = position / span * span;
        if (begin != base.begin)
            for (size_t i = 0; i < angles_.size(); ++i)
                base.numbers[i] = magnitude_ * std::polar(1.0, double(begin) * angles_[i]);
        base.begin = begin;
        const Number* step = &steps_[size_t(position - begin) * angles_.size()];
        for (size_t i = 0; i < angles_.size(); ++i) {
            const double c = base.numbers[i].real(), s = base.numbers[i].imag();
            cosines[i] = float(c * step[i].real() - s * step[i].imag());
            sines[i] = float(c * step[i].imag() + s * step[i].real());
        }
    }

  private:
    static constexpr int64_t span = tile_tokens;  // what a member of a chain gets at a time

    std::vector<double> angles_;
    double magnitude_;
    std::vector<Number> steps_;  // [span][angles]
};

Task bind(const Launch& launch, const Site& site) {
    const Operation& first_one = launch.operations[0];
    graph::View x = site.view(first_one.inputs[0]), positions = site.view(first_one.inputs[1]);
    graph::View factor_view = site.view(first_one.inputs[2]);
    graph::Rope rope = rope_of(*first_one.node);
    std::vector<Turned> all;
    for (const Operation& operation : launch.operations)
        all.push_back({*as_rows(site.view(operation.inputs[0]), 1),
                       *as_rows(site.view(operation.output), 1)});
    std::vector<float> factors;
    if (factor_view) factors = graph::load(factor_view);
    const Turns turns(rope_angles(rope, factors), rope.magnitude);
    auto* pairs = rope.halves ? turn<true> : turn<false>;
    // Of a few tokens each keeps its base from step to step: the next position has the same,
    // mostly. A token is one member's, and no guest's.
    const int64_t few = in_tiles(x) ? 0 : x.extents[0];
    std::vector<Turns::Number> numbers(size_t(few * turns.count()));
    std::vector<int64_t> begins(size_t(few), -1);
    return [=](const Worker& worker) mutable {
        constexpr int64_t floats = sizeof(Turns::Number) / sizeof(float);
        float* room = worker.scratch((floats + 2) * turns.count());
        Turns::Base base{.numbers = reinterpret_cast<Turns::Number*>(room)};
        float* cosines = room + floats * turns.count();
        float* sines = cosines + turns.count();
        const auto [first, last] = worker.share_rows(live_count(x, site.inputs()), 1);
        for (int64_t t = first; t < last; ++t) {
            if (few > 0) base = {begins[size_t(t)], &numbers[size_t(t * turns.count())]};
            turns.at(reinterpret_cast<const int32_t*>(positions.data)[t], base, cosines, sines);
            if (few > 0) begins[size_t(t)] = base.begin;
            for (const auto& [from, to] : all)
                for (int64_t r = t * from.per_live; r < (t + 1) * from.per_live; ++r) {
                    pairs(rope.dims, cosines, sines, from.row(r), to.row(r));
                    if (from.data != to.data)
                        std::copy(from.row(r) + rope.dims, from.row(r) + to.length,
                                  to.row(r) + rope.dims);
                }
        }
    };
}

}  // namespace

extern const CpuKernel rope{
    .name = "rope", .claim = claim, .bind = bind, .in_place = 1, .by_tokens = true};

}  // namespace tandem::kernels::cpu::ops
