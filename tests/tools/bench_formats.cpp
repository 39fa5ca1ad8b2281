// Tables of measurements, byte for byte.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/bench/formats.h"
#include "gguf/vectors.h"

namespace tandem::cli {
namespace {

Row example() {
    Row row;
    row.test.setup.model = "dir/a \"b\".gguf";
    row.test.prompt = 16;
    row.build = "0.1.0";
    row.cpu = "CPU X";
    row.backends = "CPU";
    row.file = row.test.setup.model;
    row.model = "llama 8B Q4_K - Medium";
    row.bytes = 4912898304;
    row.parameters = 8030261312;
    row.threads = 4;
    row.time = "2026-01-15T12:34:56Z";
    row.nanoseconds = {2000000, 4000000};
    row.least = {.reading = 0.0004, .multiplying = 0.001, .seconds = 0.001};
    row.devices = {"cpu:0", "cpu:1"};
    row.limits = {.bytes_per_second = 33.56e9,
                  .multiply_adds_per_second = 1.25e12,
                  .float_multiply_adds_per_second = 160e9};
    row.run_bytes_per_second = 33e9;
    return row;
}

std::string table(const char* format, const std::vector<Row>& rows, const Columns& columns = {}) {
    const Format& as = find_format(format);
    std::string text = as.head(columns);
    for (size_t i = 0; i < rows.size(); ++i) text += as.row(rows[i], columns, i == 0);
    return text + as.foot("0.1.0", rows);
}

TEST(BenchTable, markdown) {
    Row small = example();
    small.model = "llama ?B all F32";
    small.bytes = 1171200;
    small.parameters = 292800;
    small.test.prompt = 0;
    small.test.generated = 8;
    small.test.depth = 64;
    small.nanoseconds = {1000000000};
    EXPECT_EQ(table("md", {example(), small}),
              "| model                          |       size |     params | backend    | threads |"
              "            test |                  t/s |   limit |    read | multiply |\n"
              "| ------------------------------ | ---------: | ---------: | ---------- | ------: |"
              " --------------: | -------------------: | ------: | ------: | -------: |\n"
              "| llama 8B Q4_K - Medium         |   4.58 GiB |     8.03 B | CPU        |       4 |"
              "            pp16 |    6000.00 \xC2\xB1 2828.43 |  37.5 % |  15.0 % |   37.5 % |\n"
              "| llama ?B all F32               |   1.12 MiB |     0.29 M | CPU        |       4 |"
              "       tg8 @ d64 |          8.00 \xC2\xB1 0.00 |   0.1 % |   0.0 % |    0.1 % |\n"
              "\nlimits: 33.6 GB/s, 1.2 TMAC/s, 160.0 GMAC/s of floats (cpu:0,cpu:1, 4 threads)\n"
              "\nbuild: 0.1.0\n");
}

TEST(BenchTable, markdown_with_all_columns) {
    Row row = example();
    row.test.setup.mode = "tensor";
    row.test.setup.devices = {"cpu:0", "cpu:1"};
    row.test.setup.ratio = {3, 1};
    row.test.setup.key_type = gguf::DType::Q8_0;
    row.test.setup.overrides = {.tensors = {"ffn=cpu"}, .expert_blocks = 2};
    row.test.generated = 4;
    EXPECT_EQ(table("md", {row}, {true, true, true, true, true, true, true, true, true, true}),
              "| model                          |       size |     params | backend    | threads | "
              "n_batch |"
              " n_ubatch | type_k | type_v |   main_gpu |  n_cpu_moe |     sm | dev          "
              "| ts           | ot           |"
              "            test |                  t/s |   limit |    read | multiply |\n"
              "| ------------------------------ | ---------: | ---------: | ---------- | ------: | "
              "------: |"
              " -------: | -----: | -----: | ---------: | ---------: | -----: | ------------ "
              "| ------------ | ------------ |"
              " --------------: | -------------------: | ------: | ------: | -------: |\n"
              "| llama 8B Q4_K - Medium         |   4.58 GiB |     8.03 B | CPU        |       4 | "
              "   2048 |"
              "      512 |   q8_0 |    f16 |          0 |          2 | tensor | cpu:0/cpu:1  "
              "| 3.00/1.00    | ffn=cpu      |"
              "        pp16+tg4 |    7500.00 \xC2\xB1 3535.53 |  37.5 % |  15.0 % |   37.5 % |\n"
              "\nlimits: 33.6 GB/s, 1.2 TMAC/s, 160.0 GMAC/s of floats (cpu:0,cpu:1, 4 threads)\n"
              "\nbuild: 0.1.0\n");
}

// Each set of devices has its own, those of one set may rise, and what differs by less than is
// shown is no other.
TEST(BenchTable, limits_are_said_once) {
    Row gpu = example(), again = example(), same = example();
    gpu.devices = {"vulkan0"};
    gpu.threads = 0;
    gpu.limits = {.bytes_per_second = 4e12,
                  .multiply_adds_per_second = 50e12,
                  .float_multiply_adds_per_second = 50e12};
    gpu.run_bytes_per_second = 4e12;
    again.threads = 1;
    same.limits.bytes_per_second += 1;
    const std::string text = table("md", {example(), gpu, same, again, gpu});
    const std::string sums = "limits: 33.6 GB/s, 1.2 TMAC/s, 160.0 GMAC/s of floats ";
    const std::string foot = "\n" + sums + "(cpu:0,cpu:1, 4 threads)\n" +
                             "\nlimits: 4.0 TB/s, 50.0 TMAC/s (vulkan0)\n" + "\n" + sums +
                             "(cpu:0,cpu:1, 1 thread)\n" + "\nbuild: 0.1.0\n";
    EXPECT_TRUE(text.ends_with("|\n" + foot)) << text;
    EXPECT_EQ(table("md", {}).find("limits:"), std::string::npos);
}

TEST(BenchTable, says_which_commit_was_measured) {
    EXPECT_TRUE(find_format("md").foot("1a2b3c4 (42)", {}).ends_with("\nbuild: 1a2b3c4 (42)\n"));
    Row row = example();
    row.build = "1a2b3c4";
    row.build_number = 42;
    const auto fields = nlohmann::json::parse(table("jsonl", {row}));
    EXPECT_EQ(fields["build_commit"], "1a2b3c4");
    EXPECT_EQ(fields["build_number"], 42);
}

constexpr const char* object = R"(  {
    "build_commit": "0.1.0",
    "build_number": 0,
    "cpu_info": "CPU X",
    "gpu_info": "",
    "backends": "CPU",
    "model_filename": "dir/a \"b\".gguf",
    "model_type": "llama 8B Q4_K - Medium",
    "model_size": 4912898304,
    "model_n_params": 8030261312,
    "n_batch": 2048,
    "n_ubatch": 512,
    "n_threads": 4,
    "cpu_mask": "0x0",
    "cpu_strict": false,
    "poll": 50,
    "type_k": "f16",
    "type_v": "f16",
    "n_gpu_layers": -1,
    "n_cpu_moe": 0,
    "split_mode": "layer",
    "main_gpu": 0,
    "no_kv_offload": false,
    "flash_attn": -1,
    "devices": "auto",
    "tensor_split": "0.00",
    "tensor_buft_overrides": "none",
    "load_mode": "mmap",
    "embeddings": false,
    "no_op_offload": 0,
    "no_host": false,
    "fit_target": 0,
    "fit_min_ctx": 0,
    "n_prompt": 16,
    "n_gen": 0,
    "n_depth": 0,
    "test_time": "2026-01-15T12:34:56Z",
    "avg_ns": 3000000,
    "stddev_ns": 1414213,
    "avg_ts": 6000.000000,
    "stddev_ts": 2828.427125,
    "n_parallel": 1,
    "limit": 0.375000,
    "limit_read": 0.150000,
    "limit_multiply": 0.375000,
    "limit_bytes_per_second": 33560000000,
    "limit_multiply_adds_per_second": 1250000000000,
    "limit_float_multiply_adds_per_second": 160000000000,
    "run_bytes_per_second": 33000000000,
    "samples_ns": [ 2000000, 4000000 ],
    "samples_ts": [ 8000, 4000 ]
  })";

TEST(BenchTable, json) {
    EXPECT_EQ(table("json", {example(), example()}),
              std::string("[\n") + object + ",\n" + object + "\n]\n");
    EXPECT_EQ(table("json", {}), "[\n]\n");
}

TEST(BenchTable, json_lines_hold_the_same) {
    const std::string line = table("jsonl", {example()});
    EXPECT_EQ(line.find("{\"build_commit\": \"0.1.0\", \"build_number\": 0, "), 0u);
    EXPECT_TRUE(
        line.ends_with("\"run_bytes_per_second\": 33000000000, \"samples_ns\": [ "
                       "2000000, 4000000 ],\"samples_ts\": "
                       "[ 8000, 4000 ]}\n"))
        << line;
    EXPECT_EQ(nlohmann::json::parse(line), nlohmann::json::parse(object));
}

// A share of the limit then says little of the program.
TEST(BenchTable, says_that_memory_is_slow) {
    Row row = example();
    row.run_bytes_per_second = 17e9;
    EXPECT_NE(table("md", {row})
                  .find("(cpu:0,cpu:1, 4 threads), but memory at 17.0 GB/s in this "
                        "run\n"),
              std::string::npos);
}

TEST(BenchTable, csv) {
    const std::string text = table("csv", {example()});
    EXPECT_EQ(text.find("build_commit,build_number,cpu_info,gpu_info,backends,model_filename,"),
              0u);
    EXPECT_NE(
        text.find(",avg_ns,stddev_ns,avg_ts,stddev_ts,n_parallel,limit,limit_read,limit_multiply,"
                  "limit_bytes_per_second,limit_multiply_adds_per_second,"
                  "limit_float_multiply_adds_per_second,run_bytes_per_second\n\"0.1."
                  "0\",\"0\",\"CPU X\",\"\","
                  "\"CPU\",\"dir/a \"\"b\"\".gguf\",\"llama 8B"),
        std::string::npos)
        << text;
    EXPECT_TRUE(
        text.ends_with("\"3000000\",\"1414213\",\"6000.000000\",\"2828.427125\",\"1\","
                       "\"0.375000\",\"0.150000\",\"0.375000\",\"33560000000\",\"1250000000000\","
                       "\"160000000000\",\"33000000000\"\n"));
    EXPECT_NE(text.find("\"0x0\",\"0\",\"50\","), std::string::npos);  // a bool is a number
}

TEST(BenchTable, formats_that_do_not_exist) {
    EXPECT_EQ(test::error_of([] { find_format("xml"); }),
              "there is no output format \"xml\": choose one of md, csv, json, jsonl");
}

}  // namespace
}  // namespace tandem::cli
