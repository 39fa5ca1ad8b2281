// top_k, and with it in one launch what routers put around it: the scores are made, a bias is added
// for the choice, the best are chosen, and their scores become weights.
#include "kernels/vulkan/runs.h"
#include "kernels/vulkan/shaders.h"

namespace tandem::kernels::vulkan::ops {

namespace {

struct RouterParameters {
    Address count, x, bias, ids, weights;
    uint32_t per_live, length, kept;
    float factor;
    Runs rows;
};

// The operations of a router in the order in which they stand; all but `choice` may be missing.
struct Chain {
    const Operation *unit = nullptr, *bias = nullptr, *choice = nullptr, *take = nullptr,
                    *softmax = nullptr, *normalize = nullptr, *scale = nullptr;
    size_t count = 0;
};

constexpr std::pair<const Operation * Chain::*, std::string_view> weighing[] = {
    {&Chain::softmax, "softmax"}, {&Chain::normalize, "normalize"}, {&Chain::scale, "scale"}};

bool adds_vector(const Operation& operation) {
    return is(operation, "add") && operation.inputs[1].where == Where::Weight &&
           operation.inputs[1].view.axes.size() == 1 &&
           operation.inputs[1].view.axes[0] == operation.inputs[0].view.axes.back();
}

Chain chain_of(std::span<const Operation> ahead) {
    Chain chain;
    auto next = [&](int value) -> const Operation* {  // that reads the value first of all
        if (chain.count == ahead.size()) return nullptr;
        const Operation& operation = ahead[chain.count];
        return operation.inputs[0].value == value ? &operation : nullptr;
    };
    auto accept = [&](const Operation*& part, const Operation* operation) {
        part = operation;
        ++chain.count;
        return operation->output.value;
    };
    int value = ahead[0].inputs[0].value;
    if (is(ahead[0], "softmax") || is(ahead[0], "sigmoid")) value = accept(chain.unit, &ahead[0]);
    const int scores = value;
    const Operation* operation = next(value);
    if (operation && adds_vector(*operation)) value = accept(chain.bias, operation);
    operation = next(value);
    if (!operation || !is(*operation, "top_k")) return {};
    const int ids = accept(chain.choice, operation);
    operation = next(scores);
    if (!operation || !is(*operation, "take") || operation->inputs[1].value != ids) return chain;
    value = accept(chain.take, operation);
    for (auto [part, op] : weighing)
        if ((operation = next(value)) && is(*operation, op)) value = accept(chain.*part, operation);
    return chain;
}

// The chain gives out the ids and its last result and keeps the others to itself.
bool is_closed(std::span<const Operation> chain) {
    for (size_t i = 0; i + 1 < chain.size(); ++i) {
        if (is(chain[i], "top_k")) continue;
        if (chain[i].outlives_segment) return false;
        for (int reader : chain[i].readers)
            if (i + size_t(reader) >= chain.size()) return false;
    }
    return true;
}

size_t claim(std::span<const Operation> ahead) {
    Chain chain = chain_of(ahead);
    while (chain.count > 0 && !is_closed(ahead.first(chain.count)))
        chain = chain_of(ahead.first(chain.count - 1));
    return chain.count;
}

uint32_t unit_of(const Chain& chain) {
    return !chain.unit ? 0 : is(*chain.unit, "softmax") ? 1 : 2;
}

std::vector<Dispatch> bind(const Launch& launch, const Site& site) {
    const Chain chain = chain_of(launch.operations);
    const Operand& x = launch.operations[0].inputs[0];
    const Operand &ids = chain.choice->output, &weights = launch.operations.back().output;
    const graph::Attributes& attributes = chain.choice->node->attributes;
    const auto groups = uint32_t(attributes.number("groups"));
    const auto kept = uint32_t(attributes.number("kept"));
    const Rows rows = rows_of(x.view, ids.view, 1);
    const RouterParameters parameters{
        .count = site.count(x.view),
        .x = site.address(x),
        .bias = chain.bias ? site.address(chain.bias->inputs[1]) : 0,
        .ids = site.address(ids),
        .weights = chain.take ? site.address(weights) : 0,
        .per_live = rows.per_live,
        .length = rows.length,
        .kept = kept,
        .factor = chain.scale ? float(chain.scale->node->attributes.number("factor")) : 1,
        .rows = rows.runs};
    // One subgroup, which needs no barriers, where it can hold the row.
    constexpr uint32_t held_at_most = 16;
    const uint32_t group = group_for(site, rows.length / held_at_most);
    return {
        {.shader = "router",
         .constants = {group, (rows.length + group - 1) / group, uint32_t(ids.view.extents.back()),
                       kept < groups ? groups : 1, unit_of(chain), chain.bias != nullptr,
                       chain.take != nullptr, chain.softmax != nullptr, chain.normalize != nullptr},
         .parameters = Parameters(parameters),
         .x = {.units = rows.per_live, .live = live(x.view)}}};
}

}  // namespace

extern const VulkanKernel router{.name = "router", .claim = claim, .bind = bind};

}  // namespace tandem::kernels::vulkan::ops
