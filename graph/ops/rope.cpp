// rope(x, positions): turns pairs of elements of the last axis by angles that grow with the
// position (graph/rope.h).
#include "graph/rope.h"

#include <cmath>

#include "gguf/error.h"
#include "graph/ops.h"

namespace tandem::graph {

namespace ops {
extern const Op rope{
    .name = "rope",
    .rule =
        [](const Node& node) {
            Rule rule{.whole = {node.shape(0).back()}, .linear = {0}};
            if (node.inputs[2]) rule.whole.push_back(node.shape(2).back());
            return rule;
        },
    .reference =
        [](const Call& call) {
            Rope rope = rope_of(call.node);
            std::vector<float> factors;
            if (call.inputs[2]) factors = load(call.inputs[2]);
            std::vector<double> angles = rope_angles(rope, factors);
            std::vector<float> x = load(call.inputs[0]);
            std::vector<int32_t> positions = load_ids(call.inputs[1]);
            size_t length = size_t(call.inputs[0].extents.back());
            size_t pairs = angles.size();
            size_t rows_per_token = positions.empty() ? 0 : x.size() / length / positions.size();
            for (size_t row = 0; row * length < x.size(); ++row) {
                double position = positions[row / rows_per_token];
                for (size_t i = 0; i < pairs; ++i) {
                    float& first = x[row * length + (rope.halves ? i : 2 * i)];
                    float& second = x[row * length + (rope.halves ? i + pairs : 2 * i + 1)];
                    double c = rope.magnitude * std::cos(position * angles[i]);
                    double s = rope.magnitude * std::sin(position * angles[i]);
                    double turned = first * c - second * s;
                    second = float(first * s + second * c);
                    first = float(turned);
                }
            }
            store(call.output, x);
        }};
}  // namespace ops

Rope rope_of(const Node& node) {
    const Attributes& attributes = node.attributes;
    return {.dims = int(attributes.number("dims")),
            .base = attributes.number("base"),
            .halves = attributes.word("pairs") == "halves",
            .scale = attributes.number("scale"),
            .magnitude = attributes.number("magnitude"),
            .extrapolation = attributes.number("extrapolation"),
            .low = attributes.number("low"),
            .high = attributes.number("high")};
}

Tensor rope(Tensor x, Tensor positions, const Rope& rope, Tensor frequency_factors) {
    check(rope.dims % 2 == 0 && rope.dims <= x.shape().back()->extent,
          "rope: the rotated elements are an even part of the last axis");
    check(x.shape().front() == positions.shape().front(), "rope: one position per token");
    return x.graph->append(ops::rope, {x, positions, frequency_factors}, x.shape(),
                           {{"dims", double(rope.dims)},
                            {"base", rope.base},
                            {"pairs", std::string_view(rope.halves ? "halves" : "neighbours")},
                            {"scale", rope.scale},
                            {"magnitude", rope.magnitude},
                            {"extrapolation", rope.extrapolation},
                            {"low", rope.low},
                            {"high", rope.high}});
}

}  // namespace tandem::graph
