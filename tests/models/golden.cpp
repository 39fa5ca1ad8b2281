#include "models/golden.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "gguf/error.h"

namespace tandem::test {

namespace {

std::vector<float> read_floats(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in) return {};
    std::vector<float> values(size_t(in.tellg()) / sizeof(float));
    in.seekg(0);
    in.read(reinterpret_cast<char*>(values.data()), std::streamsize(values.size() * sizeof(float)));
    return values;
}

}  // namespace

Golden read_golden(const std::filesystem::path& folder, const std::string& name) {
    std::ifstream in(folder / (name + ".tokens.json"));
    if (!in) throw Error("no fixture " + (folder / name).string());
    auto json = nlohmann::json::parse(in);
    Golden golden{.model = folder / (name + ".gguf"),
                  .tokens = json["tokens"],
                  .greedy = json["greedy"],
                  .logits = read_floats(folder / (name + ".logits.f32")),
                  .greedy_logits = read_floats(folder / (name + ".greedy.f32"))};
    if (json.contains("own_kernels") && json["own_kernels"].contains("nmse"))
        golden.own_nmse = json["own_kernels"]["nmse"];
    return golden;
}

Evaluation evaluate(parallel::Executor& executor, const std::vector<int32_t>& prompt, int steps,
                    int64_t batch) {
    Evaluation result;
    auto submit = [&](std::span<const int32_t> tokens, int32_t cached) {
        graph::StepInputs inputs;
        inputs.append(0, cached, tokens);
        for (size_t i = 0; i < tokens.size(); ++i) inputs.rows.push_back(int32_t(i));
        return executor.submit(std::move(inputs));
    };
    auto wait = [&](parallel::Ticket ticket, std::vector<float>& logits) {
        executor.wait(ticket, [&](int64_t, std::span<const float> rows) {
            logits.insert(logits.end(), rows.begin(), rows.end());
        });
    };
    // All of the prompt is under way before the first logits are waited for.
    std::vector<parallel::Ticket> tickets;
    for (size_t i = 0; i < prompt.size(); i += size_t(batch))
        tickets.push_back(submit(
            std::span(prompt).subspan(i, std::min(size_t(batch), prompt.size() - i)), int32_t(i)));
    for (parallel::Ticket ticket : tickets) wait(ticket, result.logits);
    size_t vocab = size_t(executor.vocab());
    std::vector<float> row(result.logits.end() - int64_t(vocab), result.logits.end());
    for (int i = 0; i < steps; ++i) {
        int32_t best = int32_t(std::max_element(row.begin(), row.end()) - row.begin());
        result.greedy.push_back(best);
        result.greedy_logits.insert(result.greedy_logits.end(), row.begin(), row.end());
        row.clear();
        if (i + 1 < steps) wait(submit({&best, 1}, int32_t(prompt.size()) + i), row);
    }
    return result;
}

Evaluation evaluate(const gguf::File& file, const cli::EngineOptions& options,
                    const std::vector<int32_t>& prompt, int steps, int64_t batch) {
    cli::EngineOptions wanted = options;
    wanted.model.context = int64_t(prompt.size()) + steps;
    wanted.plan.bucket = std::min<int64_t>(batch, int64_t(prompt.size()));
    cli::Engine engine(file, wanted);
    return evaluate(engine.executor(), prompt, steps, batch);
}

}  // namespace tandem::test
