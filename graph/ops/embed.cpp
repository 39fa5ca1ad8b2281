// embed(table, ids): row ids[t] of the table. A device that holds a range of the rows gives zeros
// for the others, so that the ranges' results add up.
#include "gguf/error.h"
#include "graph/ops.h"

namespace tandem::graph {

namespace ops {
extern const Op embed{
    .name = "embed",
    .rule = [](const Node&) { return Rule{}; },
    .reference =
        [](const Call& call) {
            const View& table = call.inputs[0];
            std::vector<int32_t> ids = load_ids(call.inputs[1]);
            std::vector<float> result;
            for (int32_t id : ids) {
                int64_t row = id - table.begins[0];
                bool mine = row >= 0 && row < table.extents[0];
                std::vector<float> values =
                    mine ? load_row(table, row) : std::vector<float>(size_t(table.row_length()));
                result.insert(result.end(), values.begin(), values.end());
            }
            store(call.output, result);
        },
    .use = [](size_t operand) { return operand == 0 ? Use::Table : Use::Vector; }};
}  // namespace ops

Tensor embed(Tensor table, Tensor ids) {
    check(table->row_axes().size() == 1, "embed: the table has one row axis");
    return table.graph->append(ops::embed, {table, ids}, ids.shape() + table->column_axes());
}

}  // namespace tandem::graph
