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

bool is_one(const graph::View& view) { return live(view) == Live::No || view.extents[0] == 1; }

StandingAddresses Site::standing(const graph::View& view) const {
    StandingAddresses standing = live(view) == Live::Rows ? step.of_rows : step.of_tokens;
    if (is_one(view)) standing.sequence_of = 0;
    return standing;
}

Address Site::count(const graph::View& view) const {
    return is_one(view) ? 0 : live(view) == Live::Rows ? step.rows : step.tokens;
}

Address Site::sequence_count(const graph::View& view) const {
    return is_one(view) ? 0 : step.sequence_count;
}

}  // namespace tandem::kernels::vulkan
