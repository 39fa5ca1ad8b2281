// Models planned on devices that only a table knows.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "gguf/file.h"
#include "model/architecture.h"
#include "parallel/plan.h"
#include "parallel/propagate.h"

namespace tandem::test {

struct Planned {
    std::unique_ptr<graph::Graph> graph;
    parallel::DeviceTable table;
    parallel::Plan plan;
    parallel::Placed placed;
};

// Equal devices d0, d1, ... with room for anything and links that cost nothing.
parallel::DeviceTable equal_devices(size_t count);

Planned plan_on(std::unique_ptr<graph::Graph> graph, parallel::DeviceTable table,
                const parallel::PlanOptions& options);
// A model of tests/data/fixtures.
Planned plan_fixture(const std::string& name, parallel::DeviceTable table,
                     const parallel::PlanOptions& options);
std::unique_ptr<graph::Graph> fixture_graph(const std::string& name);

// The exchanges in order, each as its line of the placed list: "all_reduce {0,1} -> {0,1}: %7".
std::vector<std::string> exchanges(const parallel::Placed& placed);
// How many of them begin with `what`.
size_t count(const std::vector<std::string>& lines, std::string_view what);

}  // namespace tandem::test
