// The cases: small odd extents, so that an uneven cut is the rule.
//
// The words are said with operands in the order of the op's, which is the order of evaluation only
// where each stands in a statement of its own.
#include "case.h"
#include "graph/rope.h"

namespace tandem::test {

using gguf::DType;
using graph::Axis;
using graph::Rope;
using graph::Shape;
using graph::Tensor;

namespace {

template <DType dtype, int64_t width>
Case embed() {
    Case c("embed " + std::string(gguf::name(dtype)));
    Axis vocab = c.graph().axis("vocab", 7), embd = c.graph().axis("embd", width);
    Tensor table = c.weight(dtype, {vocab}, {embd});
    c.operands.push_back({.ids = c.step.ids});
    graph::embed(table, c.graph().input("ids"));
    return c;
}

// Queries from the stream: rows over three axes.
template <DType dtype, int64_t width>
Case queries() {
    Case c("linear, rows, " + std::string(gguf::name(dtype)));
    Axis kv_heads = c.graph().axis("kv_heads", 3), q_per_kv = c.graph().axis("q_per_kv", 4);
    Axis d = c.graph().axis("d", 3), embd = c.graph().axis("embd", width);
    Tensor x = c.activation({c.graph().tokens(), embd});
    graph::linear(x, c.weight(dtype, {kv_heads, q_per_kv, d}, {embd}));
    return c;
}

// The stream from heads: three contracted axes.
template <DType dtype, int64_t size>
Case output() {
    Case c("linear, columns, " + std::string(gguf::name(dtype)));
    Axis kv_heads = c.graph().axis("kv_heads", 3), q_per_kv = c.graph().axis("q_per_kv", 4);
    Axis d = c.graph().axis("d", size), embd = c.graph().axis("embd", 5);
    Tensor x = c.activation({c.graph().tokens(), kv_heads, q_per_kv, d});
    graph::linear(x, c.weight(dtype, {embd}, {kv_heads, q_per_kv, d}));
    return c;
}

Case batched() {
    Case c("linear, batched");
    Axis heads = c.graph().axis("heads", 3), n = c.graph().axis("n", 5);
    Axis k = c.graph().axis("k", 7);
    Tensor x = c.activation({c.graph().tokens(), heads, k});
    graph::linear(x, c.weight(DType::F32, {heads, n}, {k}));
    return c;
}

// Two operands element by element; the second has all axes, some of them, or is a bias.
template <Tensor (*word)(Tensor, Tensor)>
Case same_axes() {
    Case c("elementwise, same axes");
    Axis heads = c.graph().axis("heads", 3), d = c.graph().axis("d", 5);
    Tensor a = c.activation({c.graph().tokens(), heads, d});
    word(a, c.activation(a.shape()));
    return c;
}

template <Tensor (*word)(Tensor, Tensor)>
Case fewer_axes() {
    Case c("elementwise, other axes");
    Axis heads = c.graph().axis("heads", 3), d = c.graph().axis("d", 5);
    Tensor a = c.activation({c.graph().tokens(), heads, d});
    word(a, c.activation({d, c.graph().tokens()}));
    return c;
}

template <Tensor (*word)(Tensor, Tensor)>
Case with_vector() {
    Case c("elementwise, a vector");
    Axis heads = c.graph().axis("heads", 3), d = c.graph().axis("d", 5);
    Tensor a = c.activation({c.graph().tokens(), heads, d});
    word(a, c.weight(DType::F32, {heads, d}, {}));
    return c;
}

template <Tensor (*word)(Tensor, double)>
Case one_operand() {
    Case c("elementwise, a number");
    Axis ffn = c.graph().axis("ffn", 7);
    word(c.activation({c.graph().tokens(), ffn}), 0.7);
    return c;
}

Case sigmoid() {
    Case c("sigmoid");
    graph::sigmoid(c.activation({c.graph().tokens(), c.graph().axis("ffn", 7)}));
    return c;
}

Case gated(std::string_view activation) {
    Case c("glu, " + std::string(activation));
    Axis ffn = c.graph().axis("ffn", 7);
    Tensor gate = c.activation({c.graph().tokens(), ffn});
    graph::glu(gate, c.activation(gate.shape()), activation);
    return c;
}

Case rms_norm() {
    Case c("rms_norm of the stream");
    Axis embd = c.graph().axis("embd", 7);
    Tensor x = c.activation({c.graph().tokens(), embd});
    graph::rms_norm(x, c.weight(DType::F32, {embd}, {}), 1e-6);
    return c;
}

Case rms_norm_of_heads() {
    Case c("rms_norm of heads");
    Axis kv_heads = c.graph().axis("kv_heads", 3), q_per_kv = c.graph().axis("q_per_kv", 2);
    Axis d = c.graph().axis("d", 5);
    Tensor x = c.activation({c.graph().tokens(), kv_heads, q_per_kv, d});
    graph::rms_norm(x, c.weight(DType::F32, {d}, {}), 1e-6);
    return c;
}

// Half of a head at most is turned, so that a cut head is wrong but not out of bounds.
Case rope(bool halves, bool factors) {
    Case c(std::string("rope, ") + (halves ? "halves" : "neighbours"));
    Axis kv_heads = c.graph().axis("kv_heads", 3), d = c.graph().axis("d", 9);
    Tensor x = c.activation({c.graph().tokens(), kv_heads, d});
    Tensor positions = c.positions(), divisors;
    if (factors)
        divisors = c.weight(DType::F32, {c.graph().axis("pairs", 2)}, {});
    else
        c.left_out();
    Rope parameters{.dims = 4, .halves = halves, .magnitude = 1.1};
    if (!factors) parameters.scale = 8, parameters.extrapolation = 1, parameters.high = 2;
    graph::rope(x, positions, parameters, divisors);
    return c;
}

template <DType dtype>
Case attend() {
    Case c("attend, cache " + std::string(gguf::name(dtype)));
    Axis tokens = c.graph().tokens(), kv_heads = c.graph().axis("kv_heads", 3);
    Axis q_per_kv = c.graph().axis("q_per_kv", 4), slots = c.graph().axis("slots", 2);
    Axis d = c.graph().axis("d", 3), dv = c.graph().axis("dv", 5);
    Axis cells = c.graph().axis("cells", 6);
    Tensor q = c.activation({tokens, kv_heads, q_per_kv, d});
    Tensor k = c.activation({tokens, kv_heads, d});
    Tensor v = c.activation({tokens, kv_heads, dv});
    Tensor k_cache = c.state(dtype, {slots, kv_heads, cells}, {d});
    Tensor v_cache = c.state(dtype, {slots, kv_heads, cells}, {dv});
    graph::attend(q, k, v, {k_cache, v_cache}, 2);
    return c;
}

// A ring of cells, sinks and a cap.
Case windowed_attend() {
    Case c("attend, windowed");
    Axis tokens = c.graph().tokens(), kv_heads = c.graph().axis("kv_heads", 3);
    Axis q_per_kv = c.graph().axis("q_per_kv", 4), slots = c.graph().axis("slots", 2);
    Axis d = c.graph().axis("d", 3), cells = c.graph().axis("cells", 4);
    Tensor q = c.activation({tokens, kv_heads, q_per_kv, d});
    Tensor k = c.activation({tokens, kv_heads, d});
    Tensor v = c.activation({tokens, kv_heads, d});
    Tensor k_cache = c.state(DType::F32, {slots, kv_heads, cells}, {d});
    Tensor v_cache = c.state(DType::F32, {slots, kv_heads, cells}, {d});
    Tensor sinks = c.weight(DType::F32, {kv_heads, q_per_kv}, {});
    for (int second = 0; second < 3; ++second) c.left_out();
    graph::attend(q, k, v, {k_cache, v_cache}, 2, {.window = 2, .soft_cap = 3, .sinks = sinks});
    return c;
}

// Another layer's cache, and a second pair whose keys all heads share.
Case attend_with_second_pair() {
    Case c("attend, second pair");
    Axis tokens = c.graph().tokens(), kv_heads = c.graph().axis("kv_heads", 3);
    Axis q_per_kv = c.graph().axis("q_per_kv", 4), slots = c.graph().axis("slots", 2);
    Axis d = c.graph().axis("d", 3), e = c.graph().axis("e", 2);
    Axis cells = c.graph().axis("cells", 6);
    Tensor q = c.activation({tokens, kv_heads, q_per_kv, d});
    c.left_out();
    c.left_out();
    Tensor k_cache = c.state(DType::F32, {slots, kv_heads, cells}, {d});
    Tensor v_cache = c.state(DType::F32, {slots, kv_heads, cells}, {d});
    c.left_out();
    Tensor q2 = c.activation({tokens, kv_heads, q_per_kv, e});
    Tensor k2 = c.activation({tokens, e});
    Tensor cache2 = c.state(DType::F32, {slots, cells}, {e});
    graph::attend(q, {}, {}, {k_cache, v_cache}, 2, {.q = q2, .k = k2, .cache = cache2});
    return c;
}

Case short_conv() {
    Case c("short_conv");
    Axis k_heads = c.graph().axis("k_heads", 3), d = c.graph().axis("d", 2);
    Axis taps = c.graph().axis("taps", 4), history = c.graph().axis("history", 3);
    Tensor x = c.activation({c.graph().tokens(), k_heads, d});
    Tensor kernel = c.weight(DType::F32, {k_heads, d, taps}, {});
    graph::short_conv(x, kernel,
                      c.state(DType::F32, {c.graph().axis("slots", 2), k_heads, d}, {history}));
    return c;
}

enum class Heads { Grouped, Tiled, Single };
Case delta_net(Heads order) {
    Case c("delta_net");
    Axis tokens = c.graph().tokens(), k_heads = c.graph().axis("k_heads", 3);
    Axis v_per_k = c.graph().axis("v_per_k", 2), slots = c.graph().axis("slots", 2);
    Axis d = c.graph().axis("d", 4), dv = c.graph().axis("dv", 5);
    Shape heads{k_heads};
    if (order == Heads::Grouped) heads = {k_heads, v_per_k};
    if (order == Heads::Tiled) heads = {v_per_k, k_heads};
    Tensor q = c.activation({tokens, k_heads, d});
    Tensor k = c.activation({tokens, k_heads, d});
    Tensor v = c.activation(Shape{tokens} + heads + Shape{dv});
    Tensor decay =
        c.activation(Shape{tokens} + heads + (order == Heads::Single ? Shape{d} : Shape{}));
    Tensor beta = c.positive(Shape{tokens} + heads);
    graph::delta_net(q, k, v, decay, beta,
                     c.state(DType::F32, Shape{slots} + heads + Shape{dv}, {d}));
    return c;
}

Case l2_norm() {
    Case c("l2_norm");
    graph::l2_norm(
        c.activation({c.graph().tokens(), c.graph().axis("heads", 3), c.graph().axis("d", 4)}),
        1e-6);
    return c;
}

Case rms_norm_without_weight() {
    Case c("rms_norm without a weight");
    Tensor x =
        c.activation({c.graph().tokens(), c.graph().axis("heads", 3), c.graph().axis("d", 4)});
    c.left_out();
    graph::rms_norm(x, 1e-6);
    return c;
}

Case softplus() {
    Case c("softplus");
    graph::softplus(c.activation({c.graph().tokens(), c.graph().axis("heads", 7)}));
    return c;
}

Case pick() {
    Case c("pick");
    Axis layers = c.graph().axis("layers", 3);
    // The first, so that a cut axis is wrong but not out of bounds.
    graph::pick(c.activation({c.graph().tokens(), layers, c.graph().axis("width", 4)}), layers, 0);
    return c;
}

Case temper() {
    Case c("temper");
    Tensor x = c.activation({c.graph().tokens(), c.graph().axis("heads", 3)});
    graph::temper(x, c.positions(), 0.5, 2);
    return c;
}

Case top_k_of_groups() {
    Case c("top_k of groups");
    Axis choices = c.graph().axis("choices", 8), used = c.graph().axis("used", 2);
    graph::top_k(c.activation({c.graph().tokens(), choices}), used, {.count = 4, .kept = 2});
    return c;
}

template <Tensor (*word)(Tensor)>
Case over_choices() {
    Case c("over choices");
    word(c.positive({c.graph().tokens(), c.graph().axis("choices", 5)}));
    return c;
}

Case top_k() {
    Case c("top_k");
    Axis choices = c.graph().axis("choices", 5), used = c.graph().axis("used", 2);
    graph::top_k(c.activation({c.graph().tokens(), choices}), used);
    return c;
}

Case take() {
    Case c("take");
    Axis choices = c.graph().axis("choices", 5), used = c.graph().axis("used", 2);
    Tensor scores = c.activation({c.graph().tokens(), choices});
    // Ids that are good in any half, so that a cut axis is wrong but not out of bounds.
    graph::take(scores, c.ids({c.graph().tokens(), used}, 2));
    return c;
}

Case mixture(DType gates, DType ups, DType downs, int64_t embd_extent, int64_t ffn_extent) {
    Case c("moe_ffn, " + std::string(gguf::name(gates)));
    Axis tokens = c.graph().tokens(), embd = c.graph().axis("embd", embd_extent);
    Axis experts = c.graph().axis("experts", 4), ffn = c.graph().axis("ffn", ffn_extent);
    Axis used = c.graph().axis("used", 3);
    Tensor x = c.activation({tokens, embd});
    Tensor ids = c.ids({tokens, used}, 4);
    Tensor weights = c.activation({tokens, used});
    Tensor gate = c.weight(gates, {experts, ffn}, {embd});
    Tensor up = c.weight(ups, {experts, ffn}, {embd});
    Tensor down = c.weight(downs, {experts, embd}, {ffn});
    graph::moe_ffn(x, ids, weights, {.gate = gate, .up = up, .down = down}, "silu");
    return c;
}

Case scaled_experts() {
    Case c("moe_ffn with scales");
    Axis tokens = c.graph().tokens(), embd = c.graph().axis("embd", 5);
    Axis experts = c.graph().axis("experts", 4), ffn = c.graph().axis("ffn", 6);
    Axis used = c.graph().axis("used", 3), choices = c.graph().axis("choices", 4);
    Tensor x = c.activation({tokens, embd});
    Tensor ids = c.ids({tokens, used}, 4);
    Tensor weights = c.activation({tokens, used});
    Tensor gate = c.weight(DType::F32, {experts, ffn}, {embd});
    Tensor up = c.weight(DType::F32, {experts, ffn}, {embd});
    Tensor down = c.weight(DType::F32, {experts, embd}, {ffn});
    Tensor gate_scale = c.weight(DType::F32, {choices}, {});
    c.left_out();
    Tensor down_scale = c.weight(DType::F32, {choices}, {});
    graph::moe_ffn(
        x, ids, weights,
        {.gate = gate, .up = up, .down = down, .gate_scale = gate_scale, .down_scale = down_scale},
        "silu");
    return c;
}

Case experts_with_biases() {
    Case c("moe_ffn with biases");
    Axis tokens = c.graph().tokens(), embd = c.graph().axis("embd", 5);
    Axis experts = c.graph().axis("experts", 4), ffn = c.graph().axis("ffn", 6);
    Axis used = c.graph().axis("used", 3);
    Tensor x = c.activation({tokens, embd});
    Tensor ids = c.ids({tokens, used}, 4);
    Tensor weights = c.activation({tokens, used});
    Tensor gate = c.weight(DType::F32, {experts, ffn}, {embd});
    Tensor up = c.weight(DType::F32, {experts, ffn}, {embd});
    Tensor down = c.weight(DType::F32, {experts, embd}, {ffn});
    for (int scale = 0; scale < 3; ++scale) c.left_out();
    Tensor gate_bias = c.weight(DType::F32, {experts, ffn}, {});
    Tensor up_bias = c.weight(DType::F32, {experts, ffn}, {});
    graph::moe_ffn(
        x, ids, weights,
        {.gate = gate, .up = up, .down = down, .gate_bias = gate_bias, .up_bias = up_bias},
        "clamped_swiglu");
    return c;
}

Case expert_bias() {
    Case c("expert_bias");
    Axis tokens = c.graph().tokens(), used = c.graph().axis("used", 3);
    // Ids that are good in any half, so that a cut axis is wrong but not out of bounds.
    Tensor ids = c.ids({tokens, used}, 2);
    Tensor weights = c.activation({tokens, used});
    graph::expert_bias(
        ids, weights,
        c.weight(DType::F32, {c.graph().axis("choices", 4), c.graph().axis("embd", 5)}, {}));
    return c;
}

Case select_rows() {
    Case c("select_rows");
    Axis heads = c.graph().axis("heads", 3), d = c.graph().axis("d", 5);
    Tensor x = c.activation({c.graph().tokens(), heads, d});
    c.operands.push_back({.ids = c.step.rows});
    graph::select_rows(x, c.graph().input("rows"));
    return c;
}

constexpr Builder builders[] = {
    embed<DType::F32, 5>,
    embed<DType::Q8_0, 96>,
    embed<DType::Q6_K, 512>,
    queries<DType::F32, 7>,
    queries<DType::BF16, 7>,
    queries<DType::Q4_0, 96>,
    queries<DType::IQ4_KS, 512>,
    output<DType::F32, 3>,
    output<DType::F16, 3>,
    output<DType::Q4_0, 16>,
    output<DType::MXFP4, 24>,
    output<DType::Q4_K, 64>,
    output<DType::IQ3_KT, 64>,
    batched,
    same_axes<graph::add>,
    fewer_axes<graph::add>,
    with_vector<graph::add>,
    same_axes<graph::mul>,
    fewer_axes<graph::mul>,
    with_vector<graph::mul>,
    one_operand<graph::scale>,
    one_operand<graph::soft_cap>,
    sigmoid,
    [] { return gated("silu"); },
    [] { return gated("gelu"); },
    rms_norm,
    rms_norm_of_heads,
    [] { return rope(true, false); },
    [] { return rope(false, false); },
    [] { return rope(true, true); },
    attend<DType::F32>,
    attend<DType::F16>,
    over_choices<graph::softmax>,
    over_choices<graph::normalize>,
    top_k,
    take,
    [] { return mixture(DType::F32, DType::F32, DType::F32, 5, 7); },
    [] { return mixture(DType::Q4_0, DType::IQ4_NL, DType::Q8_0, 32, 96); },
    [] { return mixture(DType::Q3_K, DType::Q5_K, DType::Q2_K, 256, 512); },
    scaled_experts,
    experts_with_biases,
    expert_bias,
    windowed_attend,
    attend_with_second_pair,
    short_conv,
    [] { return delta_net(Heads::Grouped); },
    [] { return delta_net(Heads::Tiled); },
    [] { return delta_net(Heads::Single); },
    l2_norm,
    rms_norm_without_weight,
    softplus,
    pick,
    temper,
    top_k_of_groups,
    select_rows,
};

}  // namespace

std::span<const Builder> case_builders() { return builders; }

}  // namespace tandem::test
