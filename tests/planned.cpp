#include "planned.h"

#include <algorithm>
#include <limits>
#include <sstream>

#include "data.h"

namespace tandem::test {

using namespace parallel;

DeviceTable equal_devices(size_t count) {
    constexpr Link no_cost{.bytes_per_second = std::numeric_limits<double>::infinity()};
    DeviceTable table;
    for (size_t i = 0; i < count; ++i)
        table.devices.push_back({.name = "d" + std::to_string(i),
                                 .free_bytes = int64_t(1) << 40,
                                 .bytes_per_second = 1e10,
                                 .multiply_adds_per_second = 1e11,
                                 .rounding = "same"});
    table.links.assign(count, std::vector<Link>(count, no_cost));
    return table;
}

Planned plan_on(std::unique_ptr<graph::Graph> graph, DeviceTable table,
                const PlanOptions& options) {
    Planned planned{.graph = std::move(graph), .table = std::move(table)};
    planned.plan = make_plan(*planned.graph, planned.table, options);
    planned.placed = propagate(*planned.graph, planned.plan, planned.table);
    return planned;
}

std::unique_ptr<graph::Graph> fixture_graph(const std::string& name) {
    return model::build(gguf::File::open(test::data("fixtures/" + name + ".gguf")), {});
}

Planned plan_fixture(const std::string& name, DeviceTable table, const PlanOptions& options) {
    return plan_on(fixture_graph(name), std::move(table), options);
}

std::vector<std::string> exchanges(const Placed& placed) {
    std::vector<std::string> found;
    std::istringstream text(to_string(placed));
    for (std::string line; std::getline(text, line);)
        if (line.find(" = ") == std::string::npos && line.find(" -> ") != std::string::npos)
            found.push_back(line);
    return found;
}

size_t count(const std::vector<std::string>& lines, std::string_view what) {
    return size_t(std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
        return line.compare(0, what.size(), what) == 0;
    }));
}

}  // namespace tandem::test
