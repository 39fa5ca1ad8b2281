#include "cli/bench/row.h"

#include <cctype>
#include <cmath>
#include <numeric>

#include "cli/format.h"

namespace tandem::cli {

namespace {

std::string joined(const std::vector<std::string>& words, const char* between = "/") {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
    return text;
}

std::string lower(std::string_view text) {
    std::string letters(text);
    for (char& c : letters) c = char(std::tolower(static_cast<unsigned char>(c)));
    return letters;
}

std::vector<double> in_reals(const std::vector<int64_t>& numbers) {
    return {numbers.begin(), numbers.end()};
}

}  // namespace

double mean(const std::vector<double>& samples) {
    if (samples.empty()) return 0;
    return std::accumulate(samples.begin(), samples.end(), 0.0) / double(samples.size());
}

double deviation(const std::vector<double>& samples) {
    if (samples.size() < 2) return 0;
    const double middle = mean(samples);
    double squares = 0;
    for (double sample : samples) squares += (sample - middle) * (sample - middle);
    return std::sqrt(squares / double(samples.size() - 1));
}

std::vector<double> Row::rates() const {
    std::vector<double> rates;
    for (int64_t time : nanoseconds) rates.push_back(1e9 * double(tokens()) / double(time));
    return rates;
}

double Row::share(double least_seconds) const {
    return least_seconds * mean(rates()) / double(tokens());
}

std::string Row::label() const {
    std::string text;
    if (test.prompt > 0) text += "pp" + std::to_string(test.prompt);
    if (test.prompt > 0 && test.generated > 0) text += "+";
    if (test.generated > 0) text += "tg" + std::to_string(test.generated);
    if (test.depth > 0) text += " @ d" + std::to_string(test.depth);
    return text;
}

std::string devices_text(const Setup& setup) {
    return setup.devices.empty() ? "auto" : joined(setup.devices);
}

std::string ratio_text(const Setup& setup) {
    if (setup.ratio.empty()) return "0.00";
    std::vector<std::string> shares;
    for (double share : setup.ratio) shares.push_back(format("%.2f", share));
    return joined(shares);
}

std::string overrides_text(const Setup& setup) {
    const std::vector<std::string>& tensors = setup.overrides.tensors;
    return tensors.empty() ? "none" : joined(tensors, ";");
}

std::string type_text(gguf::DType type) { return lower(gguf::name(type)); }

std::string limits_text(const kernels::Limits& limits) {
    const double products = limits.multiply_adds_per_second,
                 floats = limits.float_multiply_adds_per_second;
    std::string text = in_units(limits.bytes_per_second) + "B/s, " + in_units(products) + "MAC/s";
    if (floats > 0 && floats != products) text += ", " + in_units(floats) + "MAC/s of floats";
    return text;
}

std::string limits_text(const Row& row) {
    std::string text = limits_text(row.limits) + " (" + joined(row.devices, ",");
    if (row.threads > 0)
        text += ", " + std::to_string(row.threads) + (row.threads == 1 ? " thread" : " threads");
    text += ")";
    // Whoever shares the machine may take so much that the row says nothing of the program.
    if (row.run_bytes_per_second < 0.9 * row.limits.bytes_per_second)
        text += ", but memory at " + in_units(row.run_bytes_per_second) + "B/s in this run";
    return text;
}

std::vector<Field> fields(const Row& row) {
    const Setup& setup = row.test.setup;
    const std::vector<double> times = in_reals(row.nanoseconds), rates = row.rates();
    return {{"build_commit", row.build},
            {"build_number", row.build_number},
            {"cpu_info", row.cpu},
            {"gpu_info", std::string()},
            {"backends", row.backends},
            {"model_filename", row.file},
            {"model_type", row.model},
            {"model_size", row.bytes},
            {"model_n_params", row.parameters},
            {"n_batch", row.test.batch},
            {"n_ubatch", row.test.step},
            {"n_threads", row.threads},
            {"cpu_mask", std::string("0x0")},
            {"cpu_strict", false},
            {"poll", int64_t(50)},
            {"type_k", type_text(setup.key_type)},
            {"type_v", type_text(setup.value_type)},
            {"n_gpu_layers", int64_t(-1)},
            {"n_cpu_moe", setup.overrides.expert_blocks},
            {"split_mode", setup.mode},
            {"main_gpu", int64_t(setup.main_device)},
            {"no_kv_offload", false},
            {"flash_attn", int64_t(-1)},
            {"devices", devices_text(setup)},
            {"tensor_split", ratio_text(setup)},
            {"tensor_buft_overrides", overrides_text(setup)},
            {"load_mode", std::string("mmap")},
            {"embeddings", false},
            {"no_op_offload", int64_t(0)},
            {"no_host", false},
            {"fit_target", int64_t(0)},
            {"fit_min_ctx", int64_t(0)},
            {"n_prompt", row.test.prompt},
            {"n_gen", row.test.generated},
            {"n_depth", row.test.depth},
            {"test_time", row.time},
            {"avg_ns", int64_t(mean(times))},
            {"stddev_ns", int64_t(deviation(times))},
            {"avg_ts", mean(rates)},
            {"stddev_ts", deviation(rates)},
            {"n_parallel", setup.sequences},
            {"limit", row.share()},
            {"limit_read", row.share(row.least.reading)},
            {"limit_multiply", row.share(row.least.multiplying)},
            {"limit_bytes_per_second", int64_t(row.limits.bytes_per_second)},
            {"limit_multiply_adds_per_second", int64_t(row.limits.multiply_adds_per_second)},
            {"limit_float_multiply_adds_per_second",
             int64_t(row.limits.float_multiply_adds_per_second)},
            {"run_bytes_per_second", int64_t(row.run_bytes_per_second)}};
}

}  // namespace tandem::cli
