// Winogrande (Sakaguchi et al. 2019): which of two nouns a sentence means.
#include <algorithm>

#include "cli/format.h"
#include "cli/options.h"
#include "cli/perplexity/benchmark.h"
#include "cli/perplexity/draw.h"
#include "gguf/error.h"

namespace tandem::cli {

namespace {

// Without the quotes around it, of which two in a row stand for one inside.
std::string unquoted(std::string_view field) {
    if (field.size() < 2 || !field.starts_with('"') || !field.ends_with('"'))
        return std::string(field);
    std::string text;
    for (size_t i = 1; i + 1 < field.size(); ++i) {
        text += field[i];
        if (field.substr(i, 2) == "\"\"" && i + 2 < field.size()) ++i;
    }
    return text;
}

// The fields of a line of comma-separated values; commas inside quotes are no separators.
std::vector<std::string> fields_of(std::string_view line) {
    std::vector<std::string> fields;
    bool quoted = false;
    size_t begin = 0;
    for (size_t i = 0; i <= line.size(); ++i) {
        const bool end = i == line.size();
        if (!end && line[i] == '"') quoted = !quoted;
        if (!end && (quoted || line[i] != ',')) continue;
        fields.push_back(unquoted(line.substr(begin, i - begin)));
        begin = i + 1;
    }
    if (quoted) throw Error("a quote is not closed");
    return fields;
}

// index,sentence,choice,choice,answer: throws Error without the place.
Task to_task(std::string_view line, size_t number) {
    const std::vector<std::string> fields = fields_of(line);
    if (fields.size() != 5)
        throw Error("has " + std::to_string(fields.size()) +
                    " fields, expected five: index,sentence,choice,choice,answer");
    const std::string& sentence = fields[1];
    const size_t gap = sentence.find('_');
    if (gap == std::string::npos) throw Error("the sentence has no _ in the place of the choices");
    const auto answer = to_integer(trimmed(fields[4]), "the answer", 1, 2);
    Task task{.number = number, .texts = {}, .right = {answer == 1, answer == 2}};
    for (const std::string& choice : {fields[2], fields[3]}) {
        task.beginnings.push_back(sentence.substr(0, gap) + choice);
        task.texts.push_back(task.beginnings.back() + sentence.substr(gap + 1));
    }
    return task;
}

TaskSet read(const std::string& path, std::string_view bytes, size_t count) {
    std::vector<Task> all;
    const std::vector<std::string_view> lines = lines_of(bytes);
    for (size_t i = 0; i < lines.size(); ++i) {
        if (lines[i].empty()) continue;
        try {
            all.push_back(to_task(lines[i], all.size() + 1));
        } catch (const Error& error) {
            throw Error(path + ": line " + std::to_string(i + 1) + ": " + error.what());
        }
    }
    const size_t total = all.size();
    if (total == 0) throw Error(path + ": has no tasks");
    if (count == 0 || count >= total) return {std::move(all), total};
    TaskSet set{.tasks = {}, .total = total};
    for (size_t i : draw_filling_gaps(total, count)) set.tasks.push_back(std::move(all[i]));
    return set;
}

std::string row(const Tally& tally, const Task& task, const std::vector<double>& scores,
                size_t chosen) {
    return format("%lld\t%.4lf\t%10.6f  %10.6f  %d  %d\n", static_cast<long long>(tally.tasks),
                  100 * tally.share(), scores[0], scores[1], int(chosen) + 1,
                  task.right[0] ? 1 : 2);
}

std::string summary(const Tally& tally) {
    return format("Final Winogrande score(%d tasks): %.4lf +/- %.4lf\n", int(tally.tasks),
                  100 * tally.share(), 100 * tally.error(tally.share()));
}

}  // namespace

const Benchmark winogrande{.name = "winogrande", .read = read, .row = row, .summary = summary};

}  // namespace tandem::cli
