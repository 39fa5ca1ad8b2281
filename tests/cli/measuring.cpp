// `tandem bench` and `devices` as processes.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "cli/environment.h"
#include "cli/process.h"
#include "cli/tiny_model.h"
#include "data.h"
#include "kernels/host.h"

namespace tandem::test {

namespace {

using Words = std::vector<std::string>;

Words joined(Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

Result bench(const Words& more) {
    return tandem(
        joined({"bench", "-m", tiny_model().string(), "-dev", "reference", "-r", "2"}, more));
}

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> all;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
}

TEST(Measuring, bench_writes_a_table) {
    const Result result = bench({"-p", "8,4", "-n", "2", "-d", "0,16", "-pg", "4,2"});
    EXPECT_EQ(result.code, 0) << result.error;
    const std::vector<std::string> rows = lines(result.out);
    ASSERT_EQ(rows.size(), 14u) << result.out;
    EXPECT_EQ(
        rows[0],
        "| model                          |       size |     params | backend    | threads | "
        "dev          |            test |                  t/s |   limit |    read | multiply |");
    EXPECT_TRUE(std::regex_match(
        rows[2],
        std::regex(R"(\| llama \?B \(guessed\) all F32     \|   0.13 MiB \|     0.03 M \| )"
                   R"(REFERENCE  \| +\d+ \| reference    \|             pp8 \| +\d+\.\d\d )"
                   "\xC2\xB1"
                   R"( \d+\.\d\d \|( +\d+\.\d % \|){3})")))
        << rows[2];
    const char* labels[] = {" pp8 |",       " pp4 |",       " tg2 |",       " pp4+tg2 |",
                            " pp8 @ d16 |", " pp4 @ d16 |", " tg2 @ d16 |", " pp4+tg2 @ d16 |"};
    for (size_t i = 0; i < std::size(labels); ++i)
        EXPECT_NE(rows[2 + i].find(labels[i]), std::string::npos) << rows[2 + i];
    EXPECT_EQ(rows[10], "");
    EXPECT_TRUE(std::regex_match(
        rows[11], std::regex(R"(limits: \d+\.\d [MG]B/s, \d+\.\d [MG]MAC/s \(reference, 1 thread\))"
                             R"((, but memory at \d+\.\d [MG]B/s in this run)?)")))
        << rows[11];
    EXPECT_EQ(rows[12], "");
    EXPECT_EQ(rows[13].find("build: "), 0u);
}

TEST(Measuring, bench_speaks_to_machines) {
    const Result result = bench({"-p", "8", "-n", "2", "-o", "json", "-oe", "csv", "--progress"});
    EXPECT_EQ(result.code, 0) << result.error;
    const auto rows = nlohmann::json::parse(result.out);
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0]["n_prompt"], 8);
    EXPECT_EQ(rows[1]["n_gen"], 2);
    EXPECT_EQ(rows[0]["devices"], "reference");
    EXPECT_EQ(rows[1]["samples_ns"].size(), 2u);
    EXPECT_GT(rows[1]["limit_bytes_per_second"], 1e6);
    EXPECT_GT(rows[1]["limit_multiply_adds_per_second"], 1e6);
    EXPECT_GT(rows[1]["limit_float_multiply_adds_per_second"], 1e6);
    EXPECT_TRUE(std::regex_match(rows[0]["test_time"].get<std::string>(),
                                 std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)")));
    EXPECT_NE(result.error.find("bench: benchmark 1/2: starting\n"
                                "bench: benchmark 1/2: warmup prompt run\n"
                                "bench: benchmark 1/2: prompt run 1/2\n"
                                "bench: benchmark 1/2: prompt run 2/2\n"
                                "build_commit,build_number,"),
              std::string::npos)
        << result.error;
}

TEST(Measuring, bench_names_files_of_any_name) {
    const std::string path = write_file("a\"b\xFF.gguf", read_file(tiny_model())).string();
    const Result result = tandem(
        {"bench", "-m", path, "-dev", "reference", "-r", "1", "-p", "2", "-n", "0", "-o", "json"});
    EXPECT_EQ(result.code, 0) << result.error;
    const std::string name = nlohmann::json::parse(result.out)[0]["model_filename"];
    EXPECT_TRUE(name.ends_with("/a\"b\xEF\xBF\xBD.gguf")) << name;
}

TEST(Measuring, bench_profiles_every_device) {
    const std::string core = "cpu:" + std::to_string(kernels::usable_cores().front());
    const Result result =
        tandem({"bench", "-m", tiny_model().string(), "-dev", core + "," + core, "-sm", "tensor",
                "-r", "1", "-p", "4", "-n", "2", "-d", "8", "--profile"});
    EXPECT_EQ(result.code, 0) << result.error;
    std::vector<std::string> names;
    for (const std::string& line : lines(result.out)) {
        if (line.find(" at 8 on ") != std::string::npos) names.push_back(line);
        if (line.starts_with("| exchanges ")) names.push_back("exchanges");
    }
    const std::string on[] = {" at 8 on 0 (" + core + ")", " at 8 on 1 (" + core + ")"};
    EXPECT_EQ(names,
              (std::vector<std::string>{"prompt of 4" + on[0], "exchanges", "prompt of 4" + on[1],
                                        "exchanges", "generation of 2" + on[0], "exchanges",
                                        "generation of 2" + on[1], "exchanges"}));
    EXPECT_NE(result.out.find("| attend "), std::string::npos) << result.out;
    const Result silent = bench({"-p", "4", "-n", "0", "--profile"});
    EXPECT_EQ(silent.code, 0) << silent.error;
    EXPECT_NE(silent.error.find("reference cannot tell how long its launches take: there is no "
                                "profile of it\n"),
              std::string::npos)
        << silent.error;
}

TEST(Measuring, bench_draws_what_it_measures) {
    const std::filesystem::path picture = tiny_model().parent_path() / "speed.svg";
    const Result result = bench({"-n", "2", "-d", "0,4,8", "--plot", picture.string()});
    EXPECT_EQ(result.code, 0) << result.error;
    EXPECT_EQ(lines(result.out).size(), 9u) << result.out;  // three of generation, none of prompts
    EXPECT_NE(read_file(picture).find(", tg2</text>"), std::string::npos);
    const Result nowhere = bench({"-n", "2", "--plot", "/no/where.svg"});
    EXPECT_EQ(nowhere.error,
              "error: cannot write the picture to /no/where.svg: No such file or directory\n");
}

TEST(Measuring, bench_prints_all_else_where_a_picture_cannot_be_written) {
    const Result result = tandem({"bench", "-m", tiny_model().string(), "-dev", "cpu", "-r", "1",
                                  "-p", "4", "-n", "0", "--profile", "--plot", "/dev/full"});
    EXPECT_EQ(result.code, 1);
    EXPECT_NE(result.out.find("| attend "), std::string::npos) << result.out;
    EXPECT_TRUE(result.error.ends_with(
        "error: cannot write the picture to /dev/full: No space left on device\n"))
        << result.error;
}

TEST(Measuring, bench_looks_at_every_model_before_it_measures_one) {
    const std::string model = tiny_model().string();
    const Result missing = bench({"-m", model + ",/no/model.gguf"});
    EXPECT_EQ(missing.code, 1);
    EXPECT_EQ(missing.out, "");
    EXPECT_TRUE(missing.error.starts_with("error: /no/model.gguf: ")) << missing.error;
    const std::filesystem::path cut = write_file("cut_short.gguf", read_file(tiny_model()));
    std::filesystem::resize_file(cut, std::filesystem::file_size(cut) / 2);
    EXPECT_EQ(bench({"-m", model + "," + cut.string()}).out, "");
    const Result cache = bench({"-ctk", "f16,q8_0"});
    EXPECT_EQ(cache.code, 1);
    EXPECT_EQ(cache.out, "");
}

TEST(Measuring, bench_leaves_a_picture_alone_until_there_is_another) {
    const std::filesystem::path picture = write_file("precious.svg", "precious"),
                                fresh = tiny_model().parent_path() / "fresh.svg";
    for (const std::filesystem::path& path : {picture, fresh})
        EXPECT_EQ(tandem({"bench", "-m", "/no/model.gguf", "--plot", path.string()}).code, 1);
    EXPECT_EQ(read_file(picture), "precious");
    EXPECT_FALSE(std::filesystem::exists(fresh));
    const std::string model = write_file("self.gguf", read_file(tiny_model())).string();
    EXPECT_EQ(tandem({"bench", "-m", model, "--plot", model}).error,
              "error: cannot write the picture to " + model + ": it is a model\n");
    EXPECT_EQ(read_file(model), read_file(tiny_model()));
}

TEST(Measuring, bench_shows_what_it_measured_where_it_ends_early) {
    const std::string core = "cpu:" + std::to_string(kernels::usable_cores().front());
    const std::filesystem::path picture = write_file("early.svg", "precious");
    const Result result = tandem(
        joined({"bench", "-m", tiny_model().string(), "-np", "1,100000000", "-dev", core, "-r", "1",
                "-p", "4", "-n", "0", "-d", "0,4", "--profile", "--plot", picture.string()},
               with_little_memory({core})));
    EXPECT_EQ(result.code, 1);
    EXPECT_NE(result.out.find(" pp4 @ d4 |"), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("prompt of 4 at 4 on " + core), std::string::npos) << result.out;
    EXPECT_NE(read_file(picture).find(", pp4</text>"), std::string::npos);
}

TEST(Measuring, bench_draws_what_it_measured_where_nobody_reads_the_table) {
    const std::filesystem::path picture = write_file("unread.svg", "precious");
    const Words words{
        "bench", "-m",     tiny_model().string(), "-dev", "reference", "-r", "1", "-p", "4", "-n",
        "0",     "--plot", picture.string()};
    Process process(words);
    process.close_out();
    const Result result = process.finish();
    EXPECT_EQ(result.code, 1);
    EXPECT_EQ(result.error, "error: cannot write the table to standard output\n");
    EXPECT_NE(read_file(picture).find(", pp4</text>"), std::string::npos);

    write_file("unread.svg", "precious");
    std::string command = quoted(TANDEM_BINARY);
    for (const std::string& word : words) command += " " + quoted(word);
    EXPECT_EQ(shell(command + " >/dev/full").code, 1);
    EXPECT_NE(read_file(picture).find(", pp4</text>"), std::string::npos);
}

// The repetitions that came to their end make a row.
TEST(Measuring, bench_shows_what_it_measured_where_it_is_interrupted) {
    bench({"-p", "4", "-n", "0"});  // the machine's limits are known then
    Process process({"bench", "-m", tiny_model().string(), "-dev", "reference", "-r", "1000000",
                     "-p", "4", "-n", "0", "-o", "jsonl", "--progress"});
    ASSERT_TRUE(process.has_written(0, 1000));  // a line for every repetition
    process.interrupt();
    const Result result = process.finish();
    EXPECT_EQ(result.code, 130);
    EXPECT_TRUE(result.error.ends_with("interrupted\n"));
    EXPECT_GE(nlohmann::json::parse(result.out).at("samples_ns").size(), 2u) << result.out;
}

TEST(Measuring, bench_runs_every_mode) {
    const Result result = bench({"-dev", "reference,reference", "-sm", "none,layer,tensor,graph",
                                 "-ts", "0", "-p", "4", "-n", "0", "-o", "jsonl"});
    EXPECT_EQ(result.code, 0) << result.error;
    EXPECT_EQ(lines(result.out).size(), 8u) << result.out;  // of two sets
}

TEST(Measuring, bench_generates_sequences_side_by_side) {
    const Result result = bench({"-np", "1,3", "-p", "4", "-n", "2", "-d", "2", "--profile"});
    EXPECT_EQ(result.code, 0) << result.error;
    EXPECT_NE(result.out.find(" n_parallel |"), std::string::npos) << result.out;
    EXPECT_TRUE(std::regex_search(result.out, std::regex(R"(\|          3 \| +tg2 @ d2 \|)")))
        << result.out;

    const auto rows =
        nlohmann::json::parse(bench({"-np", "3", "-p", "4", "-n", "2", "-o", "json"}).out);
    ASSERT_EQ(rows.size(), 2u);
    for (const auto& row : rows) {
        EXPECT_EQ(row["n_parallel"], 3);
        const int tokens = 3 * (row["n_prompt"].get<int>() + row["n_gen"].get<int>());
        EXPECT_NEAR(row["samples_ts"][0].get<double>() * row["samples_ns"][0].get<double>() * 1e-9,
                    tokens, 1e-3 * tokens);
    }
    EXPECT_EQ(bench({"-np", "0"}).code, 1);
}

TEST(Measuring, bench_counts_the_threads_that_run) {
    const std::string core = "cpu:" + std::to_string(kernels::usable_cores().front());
    const Result result =
        tandem({"bench", "-m", tiny_model().string(), "-dev", core, "-dev", core + "," + core, "-t",
                "0,8", "-sm", "tensor", "-r", "1", "-p", "4", "-n", "0", "-o", "json"});
    EXPECT_EQ(result.code, 0) << result.error;
    const auto rows = nlohmann::json::parse(result.out);
    ASSERT_EQ(rows.size(), 4u);
    EXPECT_EQ(rows[0]["n_threads"], 1);
    EXPECT_EQ(rows[1]["n_threads"], 1);
    EXPECT_EQ(rows[2]["n_threads"], 2);
    EXPECT_EQ(rows[3]["n_threads"], 2);
}

TEST(Measuring, bench_ends_cleanly_when_interrupted) {
    Process process({"bench", "-m", tiny_model().string(), "-dev", "reference", "-r", "1", "-p",
                     "2,100000", "-n", "0", "-o", "json"});
    ASSERT_TRUE(process.has_written(500));
    process.interrupt();
    const Result result = process.finish();
    EXPECT_EQ(result.code, 130);
    EXPECT_TRUE(result.error.ends_with("interrupted\n")) << result.error;
    EXPECT_EQ(nlohmann::json::parse(result.out).size(), 1u);
}

TEST(Measuring, bench_leaves_no_synthetic_model_however_it_ends) {
    const std::filesystem::path folder = tiny_model().parent_path() / "temporary";
    std::filesystem::create_directories(folder);
    const Variable there("TMPDIR", folder.string());
    const Words words = {"bench", "--synthetic", "qwen3-0.6b:Q4_0", "--layers",
                         "1",     "-dev",        "reference"};
    for (int milliseconds : {200, 400}) {
        Process process(words);
        std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
        process.interrupt(SIGKILL);
        EXPECT_EQ(process.finish().signal, SIGKILL);
        for (const auto& entry : std::filesystem::directory_iterator(folder))
            ADD_FAILURE() << entry.path();
    }
    const Result limited = shell("ulimit -f 100; " + quoted(TANDEM_BINARY) +
                                 " bench --synthetic qwen3-0.6b:Q4_0 --layers 1 -dev reference");
    EXPECT_NE(limited.error.find("File too large"), std::string::npos) << limited.error;
    EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST(Measuring, bench_errors) {
    EXPECT_EQ(bench({"-p", "x"}).code, 1);
    EXPECT_NE(
        bench({"-sm", "best"})
            .error.find(
                "error: split mode \"best\" does not exist; choose one of none, layer, tensor, "
                "graph\n"),
        std::string::npos);
    EXPECT_EQ(tandem({"bench", "--synthetic", "llama-1b"}).error,
              "error: \"llama-1b\" is not a preset and a type, such as llama-1b:Q4_K_M\n");
    const Words little = with_little_memory({"reference"});
    const Result large = bench(joined({"-p", "2147483647"}, little));
    EXPECT_NE(large.error.find(" too few: try fewer tokens (-p, -n, -d) or sequences (-np), a "
                               "smaller cache type (-ctk q8_0 -ctv q8_0) or more devices (-dev)\n"),
              std::string::npos)
        << large.error;
    const Variable nowhere("TMPDIR", "/no/folder");
    EXPECT_EQ(
        tandem({"bench", "--synthetic", "llama-1b:Q4_0"}).error,
        "error: cannot write a synthetic model to the folder for temporary files: No such file "
        "or directory; set TMPDIR to a folder with room for it\n");
    // Rows that came before stay.
    const Result second = bench(joined({"-np", "1,100000000", "-p", "4", "-n", "0"}, little));
    EXPECT_EQ(second.code, 1);
    EXPECT_NE(second.out.find(" pp4 |"), std::string::npos);
    EXPECT_NE(second.error.find(" too few: "), std::string::npos) << second.error;
}

TEST(Measuring, bench_knows_what_is_wrong_before_it_measures) {
    const std::vector<std::pair<Words, std::string>> wrong{
        {{"-sm", "layer,row"}, "split mode \"row\" does not exist; choose one of none, layer, "},
        {{"-dev", "cpu:x"}, "device \"cpu:x\": cores are written cpu:0 or cpu:0-3"},
        {{"-mg", "0,1"}, "-mg 1: there is 1 device, counted from 0"},
        {{"-ts", "1", "-ts", "3/1"}, "-ts takes one share for each device, 1 in all, not 2"},
        {{"--synthetic", "llama-1t:Q4_0"}, "\"llama-1t\""},
        {{"--synthetic", "llama-1b:Q9"}, "\"Q9\""},
        {{"--synthetic", "llama-1b:Q4_0", "--layers", "99"}, "--layers 99: "},
    };
    for (const auto& [words, error] : wrong) {
        const Result result = bench(joined({"-p", "4", "-n", "0", "-r", "1"}, words));
        EXPECT_EQ(result.code, 1);
        EXPECT_EQ(result.out, "");
        EXPECT_NE(result.error.find(error), std::string::npos) << result.error;
    }
}

TEST(Measuring, devices_are_listed) {
    const Result result = tandem({"devices"});
    EXPECT_EQ(result.code, 0);
    EXPECT_TRUE(std::regex_match(
        result.out, std::regex(R"(Available devices:\n(  .*\n)+  cpu: cpu, .*, \d+ threads? )"
                               R"(on cores? [-0-9,]+ \(\d+ MiB, \d+ MiB free\)\n)"
                               R"((  cpu:node.*\n)*  reference: reference, 1 thread )"
                               R"(\(\d+ MiB, \d+ MiB free\)\n)")))
        << result.out;
}

TEST(Measuring, devices_run_the_kernels_that_are_asked_for) {
    const Variable portable("TANDEM_CPU", "portable");
    EXPECT_NE(tandem({"devices"}).out.find("\n  cpu: cpu, portable, "), std::string::npos);
    const Variable unknown("TANDEM_CPU", "mmx");
    const Result result = tandem({"devices"});
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(std::regex_match(
        result.error, std::regex("error: this machine does not run the CPU kernels that TANDEM_CPU "
                                 "names, \"mmx\"; it runs (\\w+, )*portable\n")))
        << result.error;
}

TEST(Measuring, vulkan_devices_multiply_as_they_are_asked_to) {
    const Variable unknown("TANDEM_VULKAN_PRODUCTS", "exactly");
    const Result result = tandem({"devices"});
    EXPECT_EQ(result.code, 1);
    EXPECT_EQ(result.error,
              "error: TANDEM_VULKAN_PRODUCTS is floats, dots or plain, not \"exactly\"\n");
}

// The number in front of " MiB free", of each line.
std::vector<double> free_memory(const Words& words) {
    std::vector<double> all;
    for (const std::string& line : lines(tandem(words).out))
        if (std::smatch found; std::regex_search(line, found, std::regex("(\\d+) MiB free")))
            all.push_back(std::stod(found[1]));
    return all;
}

TEST(Measuring, devices_divide_memory_where_they_run_together) {
    const std::vector<double> one = free_memory({"devices", "-dev", "reference"}),
                              two = free_memory({"devices", "-dev", "reference,reference"});
    ASSERT_EQ(one.size(), 1u);
    ASSERT_EQ(two.size(), 2u);
    EXPECT_GT(one[0], 1.5 * two[0]);
    EXPECT_GT(one[0], 1.5 * two[1]);
    const Result unknown = tandem({"devices", "-dev", "gpu7"});
    EXPECT_EQ(unknown.code, 1);
    EXPECT_EQ(unknown.out, "");
}

TEST(Measuring, devices_are_written_where_nobody_reads_what_is_said) {
    const std::string table = write_file("unread.json", "").string();
    Process process({"devices", "-dev", "reference", "-o", table});
    process.close_out();
    EXPECT_EQ(process.finish().code, 1);
    EXPECT_EQ(nlohmann::json::parse(read_file(table))["devices"][0]["name"], "reference");
}

TEST(Measuring, devices_are_measured_and_planned_with) {
    const std::string table = write_file("table.json", "").string();
    const Result result =
        tandem({"devices", "-dev", "reference,reference", "--measure", "-o", table});
    EXPECT_EQ(result.code, 0) << result.error;
    EXPECT_NE(result.out.find("\nMeasured:\n  reference: "), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("\n  reference - reference: "), std::string::npos);
    EXPECT_NE(result.out.find("\nThe hardware allows "), std::string::npos);
    // The table is enough for a plan; what is known is not measured again.
    const Result plan = tandem(
        {"plan", "-m", tiny_model().string(), "-sm", "graph", "--device-table", table, "--json"});
    EXPECT_EQ(plan.code, 0) << plan.error;
    EXPECT_EQ(nlohmann::json::parse(plan.out)["devices"][1]["name"], "reference");
    const Result again = tandem(
        {"plan", "-m", tiny_model().string(), "-sm", "graph", "-dev", "reference,reference"});
    EXPECT_EQ(again.code, 0);
    EXPECT_EQ(again.error, "");
}

TEST(Measuring, devices_leave_no_table_when_interrupted) {
    const std::filesystem::path table = tiny_model().parent_path() / "interrupted.json";
    Process process({"devices", "-dev", "reference", "--measure", "-o", table.string()});
    ASSERT_TRUE(process.has_written(0, 20));  // "measuring "
    EXPECT_TRUE(std::filesystem::exists(table));
    process.interrupt();
    const Result result = process.finish();
    EXPECT_EQ(result.code, 130);
    EXPECT_TRUE(result.error.ends_with("\ninterrupted\n")) << result.error;
    EXPECT_FALSE(std::filesystem::exists(table));
}

}  // namespace

}  // namespace tandem::test
