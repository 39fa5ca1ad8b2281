#include "kernels/vulkan/mapped.h"

#include "kernels/vulkan/shaders.h"
#include "kernels/vulkan/walk.h"

namespace tandem::kernels::vulkan {

namespace {

struct MapParameters {
    Address count, y, x;
    float parameter;
    Walk walk;
};

}  // namespace

std::vector<Dispatch> mapped(Function function, float parameter, const Operand& x, const Operand& y,
                             const graph::View& y_view, const Site& site) {
    const graph::View views[] = {y_view, x.view};
    const Walk walked = walk(views);
    const MapParameters parameters{site.count(y_view), site.address(y), site.address(x), parameter,
                                   walked};
    return {{.shader = "map",
             .constants = {elements_at_once, uint32_t(function)},
             .parameters = Parameters(parameters),
             .x = {.units = walked.per_live, .per_group = elements_at_once, .live = live(y_view)}}};
}

}  // namespace tandem::kernels::vulkan
