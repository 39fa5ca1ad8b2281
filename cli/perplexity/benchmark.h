// Sets of tasks that a model is scored by: it chooses, of several texts, the one that it finds the
// likeliest. Files, orders and words are llama-perplexity's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::cli {

struct Task {
    size_t number = 0;               // in its file, from 1
    std::vector<std::string> texts;  // to choose from
    // What each text begins with that need not be predicted, where enough comes behind it; none:
    // all that is not common to the texts is predicted.
    std::vector<std::string> beginnings = {};
    std::vector<bool> right;  // of each text
};

struct TaskSet {
    std::vector<Task> tasks;  // in the order of their evaluation
    size_t total = 0;         // of the file
};

// What is known after some of the tasks.
struct Tally {
    int64_t tasks = 0, right = 0;
    int64_t texts = 0;  // of all these tasks

    double share() const { return double(right) / double(tasks); }
    // How uncertain a share of the tasks is: one standard deviation.
    double error(double share) const;
};

struct Benchmark {
    std::string_view name;   // of the option
    size_t usual_count = 0;  // of tasks; 0: all
    // The bytes of a file; 0: all tasks. Throws Error with the line or task that is damaged.
    TaskSet (*read)(const std::string& path, std::string_view bytes, size_t count);
    std::string_view heading = {};
    // After each task: `scores` are the mean log-probabilities of its texts, `chosen` the best.
    std::string (*row)(const Tally& tally, const Task& task, const std::vector<double>& scores,
                       size_t chosen);
    std::string (*summary)(const Tally& tally) = nullptr;  // of two tasks and more
};

extern const Benchmark hellaswag, winogrande, multiple_choice;

// Without their ends, which are "\n" or "\r\n"; the last line may lack it.
std::vector<std::string_view> lines_of(std::string_view bytes);

}  // namespace tandem::cli
