#include "parallel/plan_print.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace tandem::parallel {

using json = nlohmann::ordered_json;

namespace {

// One decimal where it says something.
std::string short_number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f", value);
    std::string number = text;
    return number.ends_with(".0") ? number.substr(0, number.size() - 2) : number;
}

std::string in_counts(double count) {
    const char* units[] = {"", " k", " M", " G", " T"};
    size_t unit = 0;
    for (; count >= 1000 && unit + 1 < std::size(units); ++unit) count /= 1000;
    return short_number(count) + units[unit];
}

std::string padded(std::string text, size_t width) {
    text.resize(std::max(width, text.size()), ' ');
    return text;
}

std::string layers_name(const PlanReport& report, const LayersReport& layers) {
    if (layers.first < 0) return "embedding";
    if (layers.first == report.blocks) return "head";
    std::string name = "blk." + std::to_string(layers.first);
    return layers.first == layers.last ? name : name + "-" + std::to_string(layers.last);
}

std::string between(const ExchangeReport& exchange) {
    if (exchange.to_host) return to_string(exchange.sources) + " -> host";
    if (exchange.sources == exchange.receivers) return to_string(exchange.sources);
    return to_string(exchange.sources) + " -> " + to_string(exchange.receivers);
}

std::string devices_text(const PlanReport& report) {
    size_t width = 0;
    for (const DeviceReport& device : report.devices) width = std::max(width, device.name.size());
    std::string text;
    for (size_t i = 0; i < report.devices.size(); ++i) {
        const DeviceReport& device = report.devices[i];
        Work work = device.work.body;
        work += device.work.head;
        text += "device " + std::to_string(i) + "  " + padded(device.name, width) + "  weights " +
                in_bytes(double(device.weights)) + ", cache " + in_bytes(double(device.states)) +
                ", scratch " + in_bytes(double(device.scratch)) + ": " +
                in_bytes(double(device.needed())) + " of " + in_bytes(double(device.free)) +
                " free";
        if (device.fits() && device.needed() > device.free)
            text += ", and of what others of this memory leave";
        if (!device.fits()) text += ", TOO FULL by " + in_bytes(double(device.lacking));
        text += "\n" + std::string(width + 11, ' ') + "per token: " + in_bytes(work.bytes) +
                " read, " + in_counts(work.multiply_adds) +
                " multiply-adds; for each token before it " + in_bytes(work.cached_bytes) + ", " +
                in_counts(work.cached_multiply_adds) + "\n";
    }
    return text;
}

std::string layers_text(const PlanReport& report) {
    std::string text;
    for (const LayersReport& layers : report.layers) {
        std::string parts;
        for (const Partition* partition : layers.parts) {
            parts += (parts.empty() ? "" : ", ") + to_string(*partition);
            if (partition->group != layers.group) parts += " on " + to_string(partition->group);
        }
        text += padded(layers_name(report, layers), 12) + to_string(layers.group);
        text += parts.empty() ? "\n" : "  " + parts + "\n";
    }
    for (const WholeReport& whole : report.whole)
        text += padded("whole", 12) + to_string(whole.group) + "  " +
                std::to_string(whole.weights) + (whole.weights == 1 ? " weight, " : " weights, ") +
                in_bytes(double(whole.bytes)) + (whole.group.size() > 1 ? " on each\n" : "\n");
    return text;
}

std::string exchanges_text(const std::vector<ExchangeReport>& exchanges, const char* per) {
    std::string text;
    for (const ExchangeReport& exchange : exchanges)
        text += std::string(exchange.kind) + " " + between(exchange) + ": " +
                std::to_string(exchange.count) + " per " + per + ", " +
                in_bytes(double(exchange.bytes)) + "\n";
    return text;
}

json to_json(const Work& work) {
    return {{"bytes", std::llround(work.bytes)},
            {"multiply_adds", std::llround(work.multiply_adds)},
            {"cached_bytes", std::llround(work.cached_bytes)},
            {"cached_multiply_adds", std::llround(work.cached_multiply_adds)}};
}

json to_json(const std::vector<ExchangeReport>& exchanges) {
    json list = json::array();
    for (const ExchangeReport& exchange : exchanges)
        list.push_back({{"kind", exchange.kind},
                        {"sources", exchange.sources},
                        {"receivers", exchange.receivers},
                        {"to_host", exchange.to_host},
                        {"count", exchange.count},
                        {"bytes", exchange.bytes}});
    return list;
}

json to_json(const Partition& partition) {
    json axes = json::array({std::string(role(partition.axis))});
    if (partition.inner) axes.push_back(std::string(role(partition.inner)));
    return {{"axes", axes}, {"group", partition.group}, {"bounds", partition.bounds}};
}

}  // namespace

std::string in_bytes(double bytes) {
    const char* units[] = {" B", " KiB", " MiB", " GiB", " TiB"};
    size_t unit = 0;
    // What would be printed as 1024 of a unit is 1 of the next.
    for (; bytes >= 1023.95 && unit + 1 < std::size(units); ++unit) bytes /= 1024;
    return bytes == 0 ? "0" : short_number(bytes) + units[unit];
}

std::string to_string(const PlanReport& report) {
    std::string text = "mode " + report.mode + "\n" + devices_text(report) + layers_text(report);
    for (const std::string& obstacle : report.obstacles) text += "obstacle: " + obstacle + "\n";
    return text + exchanges_text(report.body, "token") + exchanges_text(report.head, "row");
}

json to_json(const PlanReport& report) {
    json root{{"mode", report.mode}, {"blocks", report.blocks}};
    root["devices"] = json::array();
    for (const DeviceReport& device : report.devices)
        root["devices"].push_back({{"name", device.name},
                                   {"weights", device.weights},
                                   {"cache", device.states},
                                   {"scratch", device.scratch},
                                   {"free", device.free},
                                   {"lacking", device.lacking},
                                   {"fits", device.fits()},
                                   {"per_token", to_json(device.work.body)},
                                   {"per_row", to_json(device.work.head)}});
    root["layers"] = json::array();
    for (const LayersReport& layers : report.layers) {
        json parts = json::array();
        for (const Partition* partition : layers.parts) parts.push_back(to_json(*partition));
        root["layers"].push_back({{"name", layers_name(report, layers)},
                                  {"first", layers.first},
                                  {"last", layers.last},
                                  {"group", layers.group},
                                  {"parts", parts}});
    }
    root["whole"] = json::array();
    for (const WholeReport& whole : report.whole)
        root["whole"].push_back(
            {{"group", whole.group}, {"weights", whole.weights}, {"bytes", whole.bytes}});
    root["obstacles"] = report.obstacles;
    root["exchanges"] = {{"per_token", to_json(report.body)}, {"per_row", to_json(report.head)}};
    return root;
}

}  // namespace tandem::parallel
