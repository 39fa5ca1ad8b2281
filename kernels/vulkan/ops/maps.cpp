// scale, sigmoid, softplus and soft_cap, and copies of values and parts: one number to one number.
#include "kernels/vulkan/forms.h"
#include "kernels/vulkan/shaders.h"
#include "kernels/vulkan/walk.h"

namespace tandem::kernels::vulkan::ops {

namespace {

struct MapParameters {
    Address count, y, x;
    float parameter;
    Walk walk;
};

// The numbers of the functions in map.comp.
struct Function {
    std::string_view op;
    uint32_t kind;
    const char* parameter;  // its name among the attributes
};
constexpr Function functions[] = {{"scale", 1, "factor"},
                                  {"sigmoid", 2, nullptr},
                                  {"softplus", 3, nullptr},
                                  {"soft_cap", 4, "cap"}};

const Function* function_of(const Operation& operation) {
    for (const Function& function : functions)
        if (is(operation, function.op)) return &function;
    return nullptr;
}

std::vector<Dispatch> map(const Operand& x, const Operand& y, const graph::View& y_view,
                          uint32_t kind, float parameter, const Site& site) {
    const graph::View views[] = {y_view, x.view};
    const Walk walked = walk(views);
    const MapParameters parameters{site.count(y_view), site.address(y), site.address(x), parameter,
                                   walked};
    return {{.shader = "map",
             .constants = {elements_at_once, kind},
             .parameters = Parameters(parameters),
             .x = {.units = walked.per_live, .per_group = elements_at_once, .live = live(y_view)}}};
}

size_t claim(std::span<const Operation> ahead) { return function_of(ahead[0]) ? 1 : 0; }

std::vector<Dispatch> bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    const Function& function = *function_of(operation);
    const float parameter =
        function.parameter ? float(operation.node->attributes.number(function.parameter)) : 0;
    return map(operation.inputs[0], operation.output, operation.output.view, function.kind,
               parameter, site);
}

size_t claim_pick(std::span<const Operation> ahead) { return is(ahead[0], "pick") ? 1 : 0; }

// A copy that begins further on and leaves an axis out.
std::vector<Dispatch> bind_pick(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    const graph::View& y = operation.output.view;
    Operand x = operation.inputs[0];
    size_t picked = 0;
    while (contains(y.axes, x.view.axes[picked])) ++picked;
    const auto index = int64_t(operation.node->attributes.number("index"));
    x.offset += index * x.view.strides[picked] * 4;
    return map(x, operation.output, y, 0, 0, site);
}

std::vector<Dispatch> bind_copy(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    return map(operation.inputs[0], operation.output, dense_view(operation.output.view), 0, 0,
               site);
}

}  // namespace

extern const VulkanKernel maps{.name = "maps", .claim = claim, .bind = bind};
extern const VulkanKernel pick{.name = "pick", .claim = claim_pick, .bind = bind_pick};
extern const VulkanKernel copy{.name = "copy",
                               .claim = [](std::span<const Operation>) { return size_t(0); },
                               .bind = bind_copy};

}  // namespace tandem::kernels::vulkan::ops
