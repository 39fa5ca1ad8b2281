// scale, sigmoid, softplus and soft_cap: one number to one number.
#include "kernels/vulkan/mapped.h"

namespace tandem::kernels::vulkan::ops {

namespace {

struct Entry {
    std::string_view op;
    Function function;
    const char* parameter;  // its name among the attributes
};
constexpr Entry entries[] = {{"scale", Function::Scaled, "factor"},
                             {"sigmoid", Function::Sigmoid, nullptr},
                             {"softplus", Function::Softplus, nullptr},
                             {"soft_cap", Function::SoftCapped, "cap"}};

const Entry* entry_of(const Operation& operation) {
    for (const Entry& entry : entries)
        if (is(operation, entry.op)) return &entry;
    return nullptr;
}

size_t claim(std::span<const Operation> ahead) { return entry_of(ahead[0]) ? 1 : 0; }

std::vector<Dispatch> bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    const Entry& entry = *entry_of(operation);
    const float parameter =
        entry.parameter ? float(operation.node->attributes.number(entry.parameter)) : 0;
    return mapped(entry.function, parameter, operation.inputs[0], operation.output,
                  operation.output.view, site);
}

}  // namespace

extern const VulkanKernel maps{.name = "maps", .claim = claim, .bind = bind};

}  // namespace tandem::kernels::vulkan::ops
