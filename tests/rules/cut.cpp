#include "cut.h"

#include <algorithm>
#include <cstring>

#include "nmse.h"

namespace tandem::test {

using graph::Axis;
using graph::Kind;
using graph::Value;
using graph::View;
using parallel::Partition;
using parallel::Range;

namespace {

using Index = std::vector<int64_t>;

// Calls visit(index) for all indices of `extents`, row-major.
template <typename Visit>
void each_index(const Index& extents, Visit visit) {
    for (int64_t extent : extents)
        if (extent == 0) return;
    Index index(extents.size(), 0);
    while (true) {
        visit(index);
        size_t i = index.size();
        while (i > 0 && ++index[i - 1] == extents[i - 1]) index[--i] = 0;
        if (i == 0) return;
    }
}

Index strides_of(const Index& extents) {
    Index strides(extents.size(), 1);
    for (size_t i = extents.size(); i-- > 1;) strides[i - 1] = strides[i] * extents[i];
    return strides;
}

// What one member holds of a value: the ranges of its axes.
struct Local {
    const Value& value;
    Index whole, begins, extents;

    Local(const Case& of, const Value& value, const Partition* partition, size_t member)
        : value(value) {
        for (Axis axis : value.shape) {
            Range range{0, of.count(axis)};
            if (partition && partition->divides(axis)) range = partition->range(member, axis);
            whole.push_back(of.count(axis));
            begins.push_back(range.begin);
            extents.push_back(range.size());
        }
    }

    size_t row_axes() const { return whole.size() - value.columns; }

    // Calls visit(offset in the whole rows, bytes) for each run of blocks that it holds.
    template <typename Visit>
    void each_run(Visit visit) const {
        const gguf::DTypeTraits& type = gguf::traits(value.dtype);
        Index row_extents(extents.begin(), extents.begin() + int64_t(row_axes()));
        Index columns(extents.begin() + int64_t(row_axes()), extents.end());
        Index strides = strides_of(whole);
        int64_t length = 1;
        for (size_t i = row_axes(); i < whole.size(); ++i) length *= whole[i];
        int64_t row_bytes = gguf::row_bytes(value.dtype, length);
        auto at = [&](size_t first, const Index& index) {
            int64_t sum = 0;
            for (size_t i = 0; i < index.size(); ++i)
                sum += (index[i] + begins[first + i]) * strides[first + i];
            return sum;
        };
        each_index(row_extents, [&](const Index& row) {
            int64_t start = at(0, row) / length * row_bytes;
            if (type.row_header > 0) visit(start, int64_t(type.row_header));
            each_index(columns, [&](const Index& column) {
                int64_t element = at(row_axes(), column);
                if (element % type.block == 0)
                    visit(start + type.row_header + element / type.block * type.block_bytes,
                          int64_t(type.block_bytes));
            });
        });
    }

    // Stored rows are copied out; activations are seen in place, as a device sees its views.
    View view(Data& whole_data, std::vector<std::byte>& copy) const {
        View view{.dtype = value.dtype,
                  .axes = value.shape,
                  .extents = extents,
                  .begins = begins,
                  .columns = value.columns};
        if (value.kind == Kind::Weight || value.kind == Kind::State) {
            each_run([&](int64_t from, int64_t bytes) {
                copy.insert(copy.end(), whole_data.rows.begin() + from,
                            whole_data.rows.begin() + from + bytes);
            });
            // Room for what a rule forbids: reading and writing beyond the part.
            copy.resize(copy.size() + whole_data.rows.size() + 1);
            view.data = copy.data();
            return view;
        }
        view.strides = strides_of(whole);
        int64_t offset = 0;
        for (size_t i = 0; i < begins.size(); ++i) offset += begins[i] * view.strides[i];
        auto* data = value.dtype == gguf::DType::I32
                         ? reinterpret_cast<std::byte*>(whole_data.ids.data())
                         : reinterpret_cast<std::byte*>(whole_data.values.data());
        view.data = data + offset * 4;
        return view;
    }
};

// The tokens of a range, as a device would be told of them: those before count as cached.
graph::StepInputs part_of_step(const graph::StepInputs& step, Range tokens) {
    graph::StepInputs part;
    for (graph::Sequence sequence : step.sequences) {
        int64_t begin = std::max<int64_t>(sequence.first, tokens.begin);
        int64_t end = std::min<int64_t>(sequence.first + sequence.count, tokens.end);
        if (begin >= end) continue;
        part.append(sequence.slot, sequence.cached + int32_t(begin - sequence.first),
                    std::span(step.ids).subspan(size_t(begin), size_t(end - begin)));
    }
    return part;
}

// Puts a member's dense result into the whole one.
void put_back(const Local& local, const Data& part, bool add, Data& whole) {
    Index strides = strides_of(local.whole);
    size_t next = 0;
    each_index(local.extents, [&](const Index& index) {
        int64_t at = 0;
        for (size_t i = 0; i < index.size(); ++i) at += (index[i] + local.begins[i]) * strides[i];
        if (!part.ids.empty())
            whole.ids[size_t(at)] = part.ids[next++] + (add ? whole.ids[size_t(at)] : 0);
        else
            whole.values[size_t(at)] =
                part.values[next++] + (add ? whole.values[size_t(at)] : 0.0f);
    });
}

Data empty_data(const Value& value, int64_t elements) {
    Data data;
    if (value.dtype == gguf::DType::I32)
        data.ids.resize(size_t(elements));
    else
        data.values.resize(size_t(elements));
    return data;
}

int64_t product(const Index& extents) {
    int64_t result = 1;
    for (int64_t extent : extents) result *= extent;
    return result;
}

// One member's share; without a partition, all of it.
void run_member(const Case& of, const Partition* partition, size_t member, Outcome& outcome) {
    const graph::Node& node = of.node();
    std::vector<View> views;
    std::vector<std::vector<std::byte>> copies(node.inputs.size());
    Outcome before{.operands = of.operands};
    for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (!node.inputs[i]) {
            views.emplace_back();
            continue;
        }
        Local local(of, *node.inputs[i], partition, member);
        views.push_back(local.view(before.operands[i], copies[i]));
    }
    Local output(of, *node.output, partition, member);
    Data result = empty_data(*node.output, product(output.extents));
    View view = output.view(result, copies.emplace_back());
    view.strides = strides_of(output.extents);
    view.data = result.ids.empty() ? reinterpret_cast<std::byte*>(result.values.data())
                                   : reinterpret_cast<std::byte*>(result.ids.data());
    graph::StepInputs step = of.step;
    if (partition && partition->axis == node.inputs[0].graph->tokens())
        step = part_of_step(step, partition->range(member, partition->axis));
    node.op->reference({node, views, view, step});

    bool side_by_side = !partition || graph::contains(node.output.shape(), partition->axis);
    put_back(output, result, !side_by_side, outcome.output);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (!node.inputs[i] || node.inputs[i]->kind != Kind::State) continue;
        int64_t from = 0;
        Local(of, *node.inputs[i], partition, member).each_run([&](int64_t to, int64_t bytes) {
            std::memcpy(outcome.operands[i].rows.data() + to, copies[i].data() + from,
                        size_t(bytes));
            from += bytes;
        });
    }
}

Outcome run(const Case& of, const Partition* partition, size_t members) {
    int64_t elements = product(Local(of, *of.node().output, nullptr, 0).extents);
    Outcome outcome{.output = empty_data(*of.node().output, elements), .operands = of.operands};
    for (size_t member = 0; member < members; ++member) run_member(of, partition, member, outcome);
    return outcome;
}

// True if a bound of `axis` at `position` splits no block of a weight.
bool splits_no_block(const Case& of, Axis axis, int64_t position) {
    for (const graph::Tensor& input : of.node().inputs) {
        if (!input || input->columns == 0) continue;
        graph::Shape columns = input->column_axes();
        int at = find(columns, axis);
        if (at < 0) continue;
        int64_t stride = 1, block = gguf::traits(input->dtype).block;
        for (size_t i = size_t(at) + 1; i < columns.size(); ++i) stride *= columns[i]->extent;
        if (position * stride % block != 0) return false;
        // Every repetition of the axis begins on a block, too.
        if (at > 0 && axis->extent * stride % block != 0) return false;
    }
    return true;
}

std::vector<Partition> with_bounds(Partition partition,
                                   const std::vector<std::vector<int64_t>>& choices) {
    std::vector<Partition> all;
    for (const auto& bounds : choices) {
        partition.bounds = bounds;
        partition.group.clear();
        for (size_t i = 0; i + 1 < bounds.size(); ++i) partition.group.push_back(int(i));
        all.push_back(partition);
    }
    return all;
}

}  // namespace

Outcome run_whole(const Case& of) { return run(of, nullptr, 1); }

Outcome run_cut(const Case& of, const Partition& partition) {
    return run(of, &partition, partition.group.size());
}

std::vector<Partition> partitions(const Case& of, Axis axis) {
    int64_t end = of.count(axis);
    std::vector<int64_t> inside;  // where a bound may stand
    for (int64_t position = 1; position < end; ++position)
        if (splits_no_block(of, axis, position)) inside.push_back(position);
    if (inside.empty()) return {};
    // The upper half first, so that the ranges are uneven.
    int64_t far = inside[inside.size() / 2], near = inside.front();
    std::vector<std::vector<int64_t>> choices{
        {0, far, end}, {0, near, near, end}, {0, 0, far, end}};
    if (near < far) choices.push_back({0, near, far, end});
    return with_bounds({.axis = axis}, choices);
}

std::vector<Partition> partitions(const Case& of, Axis axis, Axis inner) {
    int64_t unit = inner->extent, end = axis->extent * unit;
    std::vector<std::vector<int64_t>> choices{{0, unit, end},
                                              {0, 1, unit, end},
                                              {0, 0, end - unit, end - 2, end},
                                              {0, 1, 2, unit, unit, unit + 2, 2 * unit, end}};
    std::erase_if(choices, [&](const std::vector<int64_t>& bounds) {
        return std::any_of(bounds.begin(), bounds.end(), [&](int64_t bound) {
            return bound % unit != 0 && !splits_no_block(of, inner, bound);
        });
    });
    return with_bounds({.axis = axis, .inner = inner}, choices);
}

std::string difference(const Data& has, const Data& expected) {
    if (has.ids != expected.ids) return "other ids";
    if (has.rows != expected.rows) return "other stored rows";
    if (has.values.size() != expected.values.size()) return "another size";
    if (expected.values.empty()) return "";
    const double off = nmse(has.values, expected.values);
    return off <= 1e-12 ? "" : "NMSE " + std::to_string(off);
}

}  // namespace tandem::test
