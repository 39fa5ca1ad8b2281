#include "parallel/placed.h"

namespace tandem::parallel {

std::string_view kind_name(const Exchange& exchange) {
    bool to_one = exchange.receivers.size() == 1;
    if (exchange.to_host) return "fetch";
    if (exchange.sources.size() == 1) return to_one ? "send" : "broadcast";
    if (exchange.kind == Exchange::Kind::Sum) return to_one ? "reduce" : "all_reduce";
    return to_one ? "gather" : "all_gather";
}

std::string to_string(const Placed& placed) {
    auto name = [&](int instance) {
        if (instance < 0) return std::string("-");
        const Instance& known = placed.instances[size_t(instance)];
        return placed.graph->value(known.value).name + ":" + to_string(known.placement);
    };
    std::string text;
    for (size_t i = 0; i < placed.steps.size(); ++i) {
        if (i == placed.head_begin) text += "head:\n";
        if (auto* compute = std::get_if<Compute>(&placed.steps[i])) {
            const graph::Node& node = placed.graph->nodes()[size_t(compute->node)];
            text += name(compute->output) + " = " + std::string(node.op->name) + "(";
            for (size_t j = 0; j < compute->inputs.size(); ++j)
                text += (j > 0 ? ", " : "") + name(compute->inputs[j]);
            text += ")\n";
        } else {
            auto& exchange = std::get<Exchange>(placed.steps[i]);
            text += std::string(kind_name(exchange)) + " " + to_string(exchange.sources) + " -> " +
                    (exchange.to_host ? "host" : to_string(exchange.receivers)) + ":";
            for (const Transfer& transfer : exchange.transfers)
                text +=
                    " " + placed.graph->value(placed.instances[size_t(transfer.from)].value).name;
            text += "\n";
        }
    }
    return text;
}

}  // namespace tandem::parallel
