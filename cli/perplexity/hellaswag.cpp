// HellaSwag (Zellers et al. 2019): which of four endings goes on with a story.
#include <algorithm>
#include <cmath>

#include "cli/format.h"
#include "cli/options.h"
#include "cli/perplexity/benchmark.h"
#include "cli/perplexity/draw.h"
#include "gguf/error.h"

namespace tandem::cli {

namespace {

constexpr size_t endings = 4, lines_per_task = 2 + endings;

// "3", on line `number` of the file.
size_t right_ending(const std::string& path, size_t number, std::string_view line) {
    return size_t(
        to_integer(trimmed(line),
                   path + ": line " + std::to_string(number) + ", the index of the right ending,",
                   0, endings - 1));
}

TaskSet read(const std::string& path, std::string_view bytes, size_t count) {
    const std::vector<std::string_view> lines = lines_of(bytes);
    const size_t total = lines.size() / lines_per_task;
    if (lines.empty() || lines.size() % lines_per_task != 0)
        throw Error(path + ": has " + std::to_string(lines.size()) +
                    " lines, expected six for each task: the context, the index of the right "
                    "ending, 0 to 3, and four endings");
    std::vector<size_t> right;
    for (size_t i = 0; i < total; ++i)
        right.push_back(right_ending(path, i * lines_per_task + 2, lines[i * lines_per_task + 1]));
    TaskSet set{.tasks = {}, .total = total};
    for (size_t i : draw_in_order(total, count == 0 ? total : std::min(count, total))) {
        Task task{.number = i + 1, .texts = {}, .right = std::vector<bool>(endings)};
        const std::string_view* own = &lines[i * lines_per_task];
        for (size_t ending = 0; ending < endings; ++ending)
            task.texts.push_back(std::string(own[0]) + " " + std::string(own[2 + ending]));
        task.right[right[i]] = true;
        set.tasks.push_back(std::move(task));
    }
    return set;
}

// With the bounds that Wilson's score has for a confidence of 95 %.
std::string row(const Tally& tally, const Task&, const std::vector<double>&, size_t) {
    constexpr double deviations = 1.95996398454;
    const double n = double(tally.tasks), p = tally.share(), z = deviations * deviations / n;
    const double centre = (p + z / 2) / (1 + z),
                 half = std::sqrt(z * (p * (1 - p) + z / 4)) / (1 + z);
    return format("%lld\t%.8lf%%\t[%.4lf%%, %.4lf%%]\n", static_cast<long long>(tally.tasks),
                  100 * p, 100 * std::max(0.0, centre - half), 100 * std::min(1.0, centre + half));
}

}  // namespace

const Benchmark hellaswag{.name = "hellaswag",
                          .usual_count = 400,
                          .read = read,
                          .heading = "task\tacc_norm\t95% confidence interval\n",
                          .row = row};

}  // namespace tandem::cli
