#include "kernels/vulkan/site.h"

#include "gguf/error.h"

namespace tandem::kernels::vulkan {

Address Site::address(const Operand& operand) const {
    switch (operand.where) {
        case Where::Nowhere:
            return 0;
        case Where::Weight:
            return weights.at(operand.value) + Address(operand.offset);
        case Where::State:
            return states.at(operand.value);
        case Where::Arena:
            return arena + Address(operand.offset);
        case Where::Sending:
            return sending + Address(operand.offset);
        case Where::Landing:
            return landing + Address(operand.offset);
        case Where::Input:
            if (operand.input == "ids") return step.ids;
            if (operand.input == "rows") return step.row_numbers;
            return standing(operand.view).positions;
    }
    check(false, "an operand lies somewhere");
    return 0;
}

Live live(const graph::View& view) {
    if (view.axes.empty() || !view.axes[0]->live()) return Live::No;
    return view.axes[0]->name == "rows" ? Live::Rows : Live::Tokens;
}

const StandingAddresses& Site::standing(const graph::View& view) const {
    return live(view) == Live::Rows ? step.of_rows : step.of_tokens;
}

Address Site::count(const graph::View& view) const {
    switch (live(view)) {
        case Live::Tokens:
            return step.tokens;
        case Live::Rows:
            return step.rows;
        default:
            return step.one;
    }
}

}  // namespace tandem::kernels::vulkan
