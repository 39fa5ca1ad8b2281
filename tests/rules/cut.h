// Runs an op's reference on what each member of a partition would hold, and puts the results
// together again.
#pragma once

#include <string>
#include <vector>

#include "case.h"
#include "parallel/placement.h"

namespace tandem::test {

// Results of a node: its output, and its operands, of which states were written.
struct Outcome {
    Data output;
    std::vector<Data> operands;
};

Outcome run_whole(const Case& of);
// Side by side where the output has the axis, else added up.
Outcome run_cut(const Case& of, const parallel::Partition& partition);

// Partitions of `axis` in two and three uneven ranges, some with an empty one, at bounds where
// every weight of the node can be cut; none if there is only one unit.
std::vector<parallel::Partition> partitions(const Case& of, graph::Axis axis);
// Of axis x inner: whole units of `axis` or within one.
std::vector<parallel::Partition> partitions(const Case& of, graph::Axis axis, graph::Axis inner);

// Empty where `has` is what `expected` is: ids the same, values to rounding.
std::string difference(const Data& has, const Data& expected);

}  // namespace tandem::test
