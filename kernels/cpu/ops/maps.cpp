// scale, sigmoid, softplus and soft_cap on the CPU: one number to one number, over rows of all but
// the first axis.
#include "kernels/cpu/ops/row_parts.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/site.h"

namespace tandem::kernels::cpu::ops {

namespace {

struct Entry {
    std::string_view op;
    Map* Isa::*map;
    const char* parameter;  // its name among the attributes
};
constexpr Entry entries[] = {{"scale", &Isa::scale, "factor"},
                             {"sigmoid", &Isa::sigmoid, nullptr},
                             {"softplus", &Isa::softplus, nullptr},
                             {"soft_cap", &Isa::soft_cap, "cap"}};

const Entry* entry_of(const Operation& operation) {
    for (const Entry& entry : entries)
        if (is(operation, entry.op)) return &entry;
    return nullptr;
}

size_t claim(std::span<const Operation> ahead) {
    const Operation& operation = ahead[0];
    return entry_of(operation) && are_rows(operation.inputs[0].view, operation.output.view) ? 1 : 0;
}

Task bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    const Entry& entry = *entry_of(operation);
    graph::View y = site.view(operation.output);
    size_t columns = y.axes.size() - 1;
    Rows from = *as_rows(site.view(operation.inputs[0]), columns), to = *as_rows(y, columns);
    float parameter =
        entry.parameter ? float(operation.node->attributes.number(entry.parameter)) : 0;
    return [=, map = site.isa.*entry.map](const Worker& worker) {
        const int64_t tokens = to.live ? live_count(y, site.inputs()) : 1;
        each_row_part(tokens, to.per_live, to.length, worker, [&](int64_t r, Range columns) {
            map(from.row(r) + columns.first, to.row(r) + columns.first, columns.count(), parameter);
        });
    };
}

}  // namespace

extern const CpuKernel maps{
    .name = "maps", .claim = claim, .bind = bind, .in_place = 1, .by_tokens = true};

}  // namespace tandem::kernels::cpu::ops
