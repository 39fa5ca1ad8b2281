#include "cli/bench/plot.h"

#include <algorithm>

namespace tandem::cli {

namespace {

using Words = std::vector<std::string>;

// What tells lines apart.
Words words_of(const Row& row) {
    const Setup& setup = row.test.setup;
    Row at_once = row;
    at_once.test.depth = 0;
    return {row.model,
            at_once.label(),
            devices_text(setup),
            setup.mode,
            ratio_text(setup),
            "experts of " + std::to_string(setup.overrides.expert_blocks) + " blocks on the CPU",
            "overrides " + overrides_text(setup),
            "main device " + std::to_string(setup.main_device),
            "cache " + type_text(setup.key_type) + "/" + type_text(setup.value_type),
            std::to_string(row.threads) + " threads",
            std::to_string(setup.sequences) + " at once",
            "steps of " + std::to_string(row.test.step),
            "batches of " + std::to_string(row.test.batch),
            row.file};
}

std::string joined(const Words& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

struct Lines {
    std::vector<Words> words;  // of each line
    std::vector<Line> lines;

    Line& of(const Row& row) {
        const Words own = words_of(row);
        const auto found = std::find(words.begin(), words.end(), own);
        if (found != words.end()) return lines[size_t(found - words.begin())];
        words.push_back(own);
        return lines.emplace_back();
    }

    // True if the lines differ in word `i`. A file is named only where nothing else tells it apart.
    bool varies(size_t i) const {
        return std::any_of(words.begin(), words.end(),
                           [&](const Words& other) { return other[i] != words[0][i]; });
    }
};

void sort(std::vector<Point>& points) {
    std::stable_sort(points.begin(), points.end(),
                     [](const Point& a, const Point& b) { return a.x < b.x; });
}

// The lines are named by what differs, the chart by what they share of model and test: of several
// tests it says their kind.
Chart make_chart(Lines lines, const std::string& kind) {
    Chart chart{.x_name = "tokens in the context before", .y_name = "tokens/s"};
    for (size_t i = 0; i < lines.lines.size(); ++i) {
        Line& line = lines.lines[i];
        Words own;
        for (size_t word = 0; word < lines.words[i].size(); ++word)
            if (lines.varies(word)) own.push_back(lines.words[i][word]);
        if (own.empty()) own = {"measured"};
        line.name = joined(own);
        sort(line.points);
        sort(line.limit);
    }
    const Words& first = lines.words[0];
    Words title;
    if (!lines.varies(0)) title.push_back(first[0]);
    title.push_back(lines.varies(1) ? kind : first[1]);
    chart.title = joined(title);
    chart.lines = std::move(lines.lines);
    return chart;
}

}  // namespace

std::vector<Chart> make_charts(const std::vector<Row>& rows) {
    Lines generation, prompts;
    for (const Row& row : rows) {
        Line& line = (row.test.generated > 0 ? generation : prompts).of(row);
        const auto depth = double(row.test.depth);
        line.points.push_back({depth, mean(row.rates())});
        if (row.least.seconds > 0)
            line.limit.push_back({depth, double(row.tokens()) / row.least.seconds});
    }
    std::vector<Chart> charts;
    if (!generation.lines.empty())
        charts.push_back(make_chart(std::move(generation), "generation"));
    if (!prompts.lines.empty()) charts.push_back(make_chart(std::move(prompts), "prompts"));
    return charts;
}

}  // namespace tandem::cli
