// `tandem plan` and `synth` as processes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "cli/process.h"
#include "cli/tiny_model.h"
#include "data.h"
#include "gguf/file.h"

namespace tandem::test {

namespace {

using Words = std::vector<std::string>;

Result plan(const Words& more) {
    Words words{"plan", "-m", tiny_model().string()};
    words.insert(words.end(), more.begin(), more.end());
    return tandem(words);
}

TEST(Planning, prints_the_plan) {
    const Result result = plan({"-dev", "reference,reference", "-sm", "tensor"});
    EXPECT_EQ(result.code, 0) << result.error;
    EXPECT_EQ(result.out.find("mode tensor\ndevice 0  reference  weights "), 0u) << result.out;
    EXPECT_NE(result.out.find("\nblk.0-1     {0,1}  kv_heads 2 = 1 + 1, ffn 48 = 24 + 24\n"),
              std::string::npos)
        << result.out;
    EXPECT_NE(result.out.find("\nall_reduce {0,1}: 3 per token, 384 B\n"
                              "all_reduce {0,1}: 2 per row, 256 B\n"),
              std::string::npos)
        << result.out;
    EXPECT_EQ(result.error, "");
}

TEST(Planning, a_step_is_within_a_batch) {
    auto scratch = [](const Words& more) {
        Words words{"-dev", "reference", "-c", "8192", "--json"};
        words.insert(words.end(), more.begin(), more.end());
        return nlohmann::json::parse(plan(words).out)["devices"][0]["scratch"];
    };
    EXPECT_EQ(scratch({"-ub", "4096"}), scratch({"-ub", "2048"}));
    EXPECT_EQ(scratch({"-b", "64"}), scratch({"-ub", "64"}));
    EXPECT_GT(scratch({"-b", "4096", "-ub", "4096"}), scratch({"-ub", "2048"}));
}

// Two slots of addends in two bytes for each element, beside those in four.
TEST(Planning, counts_the_memory_of_the_wire) {
    auto scratch = [](const char* type) {
        const Words words{"-dev",   "reference,reference", "-sm", "tensor",
                          "--json", "--reduce-type",       type};
        const auto device = nlohmann::json::parse(plan(words).out)["devices"][0];
        return device["scratch"].get<int64_t>();
    };
    const int64_t usual = scratch("f32"), half = scratch("f16");
    EXPECT_GT(half, usual);
    EXPECT_LT(half, usual + usual / 2);
    EXPECT_EQ(scratch("bf16"), half);
}

TEST(Planning, needs_no_data) {
    const std::string bytes = read_file(tiny_model());
    const std::string head = write_file("head.gguf", bytes.substr(0, 40000)).string();
    const Result result = tandem({"plan", "-m", head, "-dev", "reference", "--json"});
    EXPECT_EQ(result.code, 0) << result.error;
    EXPECT_EQ(nlohmann::json::parse(result.out)["blocks"], 2);
}

TEST(Planning, says_which_of_several_devices_of_a_name_would_be_too_full) {
    const std::string table = write_file("two.json", R"({"devices": [
        {"name": "small", "free_bytes": 1000, "bytes_per_second": 1, "multiply_adds_per_second": 1},
        {"name": "small", "free_bytes": 1000, "bytes_per_second": 1, "multiply_adds_per_second": 1}],
        "link": {"seconds": 1, "bytes_per_second": 1}})");
    const Result result = plan({"--device-table", table, "-sm", "tensor"});
    for (const char* name : {"0 (small)", "1 (small)"})
        EXPECT_NE(result.error.find("warning: device " + std::string(name) + " would be too full"),
                  std::string::npos)
            << result.error;
}

TEST(Planning, says_what_would_be_too_full) {
    const std::string table = write_file("small.json", R"({"devices": [{"name": "small",
        "free_bytes": 1000, "bytes_per_second": 1, "multiply_adds_per_second": 1}]})");
    const Result result = plan({"--device-table", table});
    EXPECT_EQ(result.code, 0);
    EXPECT_NE(result.out.find(" of 1000 B free, TOO FULL by "), std::string::npos) << result.out;
    EXPECT_EQ(result.error.find("warning: device small would be too full by "), 0u) << result.error;
    EXPECT_EQ(plan({"--device-table", table, "-dev", "reference,reference"}).error,
              "error: device table " + table +
                  ": no row is left for device reference; there are small, and -dev chooses among "
                  "them\n");
}

// A device table of a and b, without a link between them.
std::string table_of_two(const std::string& file) {
    std::string devices;
    for (const char* name : {"a", "b"})
        devices += std::string(devices.empty() ? "" : ", ") + R"({"name": ")" + name +
                   R"(", "free_bytes": 1e9, "bytes_per_second": 1e9, )" +
                   R"("multiply_adds_per_second": 1e9})";
    return write_file(file, "{\"devices\": [" + devices + "]}").string();
}

TEST(Planning, weighs_no_exchange_without_a_link) {
    const std::string table = table_of_two("unlinked.json");
    EXPECT_EQ(plan({"--device-table", table, "-sm", "graph"}).error,
              "error: the device table has no link between a and b, which split mode graph needs: "
              "add it, or give a ratio (-ts)\n");
    EXPECT_EQ(plan({"--device-table", table, "-sm", "graph", "-ts", "1,1"}).code, 0);
    EXPECT_EQ(plan({"--device-table", table, "-sm", "layer"}).code, 0);
}

// A device that only its weights name comes behind the others, for them alone.
TEST(Planning, moves_weights_to_devices_of_their_own) {
    const Result result = plan(
        {"-dev", "reference,reference", "-sm", "tensor", "-ts", "1,1", "-ot", "blk.1.ffn=CPU"});
    EXPECT_EQ(result.code, 0) << result.error;
    EXPECT_NE(result.out.find("\ndevice 2  cpu  "), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("\nblk.0       {0,1}  kv_heads 2 = 1 + 1, ffn 48 = 24 + 24\n"
                              "blk.1       {0,1}  kv_heads 2 = 1 + 1, ffn 48 = 48 on {2}\n"),
              std::string::npos)
        << result.out;
    // The first that fits counts, and several options are one list.
    const Result two = plan({"-dev", "reference,cpu", "-sm", "tensor", "-ts", "1,0", "-ot",
                             "blk.1.ffn=cpu,blk.0.attn_k=cpu", "-ot", "ffn=reference"});
    EXPECT_NE(two.out.find("\nblk.0       {0}  kv_heads 2 = 2 on {1}\n"
                           "blk.1       {0}  ffn 48 = 48 on {1}\n"),
              std::string::npos)
        << two.out << two.error;
}

// Those of -dev that have a name, or all CPUs among them; else one behind them.
TEST(Planning, finds_devices_of_weights_by_name) {
    const auto ffn = [](const std::string& devices, const std::string& home) {
        const std::string text = plan({"-dev", devices, "-sm", "layer", "-ot", home}).out;
        const size_t at = text.find("ffn 48 = ");
        return at == text.npos ? "" : text.substr(at + 9, text.find('\n', at) - at - 9);
    };
    // 24 and 24 columns, or 32 and 16 where vectors have 16 lanes.
    const std::string both = ffn("reference,cpu,cpu", "ffn=cpu");
    EXPECT_TRUE(both == "24 + 24 on {1,2}" || both == "32 + 16 on {1,2}") << both;
    EXPECT_EQ(ffn("reference,cpu:0,reference", "ffn=CPU"), "48 on {1}");
    EXPECT_EQ(ffn("reference", "blk.0.attn=cpu:0,ffn=cpu"), "48 on {2}");
    EXPECT_EQ(ffn("cpu:0", "ffn=reference"), "48 on {1}");
    EXPECT_EQ(ffn("reference", "[f=]fn=cpu"), "48 on {1}");
}

TEST(Planning, says_what_cannot_be_moved) {
    const auto error = [](const Words& more) {
        Words words{"-dev", "reference"};
        words.insert(words.end(), more.begin(), more.end());
        return plan(words).error;
    };
    const std::string pairs = "error: -ot takes REGEX=DEVICE, such as ffn_.*_exps=cpu, not ";
    for (const std::string text : {"ffn", "=cpu", "ffn="})
        EXPECT_EQ(error({"-ot", text}), pairs + "\"" + text + "\"\n");
    EXPECT_EQ(error({"-ot", "ffn=cpu,"}), pairs + "\"\"\n");
    EXPECT_EQ(error({"-ot", "exps=cpu"}),
              "error: -ot exps=cpu: no weight that is computed with has \"exps\" in its name; "
              "tandem inspect shows the names\n");
    EXPECT_EQ(error({"-ot", "ffn=cuda0"}).find("error: device \"cuda0\" does not exist"), 0u);
    EXPECT_EQ(error({"-cmoe"}), "note: -cmoe moves nothing: the model has no experts\n");
    EXPECT_EQ(error({"-ncmoe", "-1"}).find("error: --n-cpu-moe takes"), 0u);
}

TEST(Planning, finds_devices_of_weights_in_the_table) {
    const std::string table = table_of_two("homes.json");
    const Result found = plan({"--device-table", table, "-ts", "1,0", "-ot", "ffn=b"});
    EXPECT_NE(found.out.find("ffn 48 = 48 on {1}"), std::string::npos) << found.out << found.error;
    const std::string mixture = test::data("fixtures/qwen3moe.gguf").string();
    const std::string with_cpu =
        write_file("gpu.json",
                   R"({"devices": [{"name": "gpu0", "free_bytes": 1e9, "bytes_per_second": 1e9,
                   "multiply_adds_per_second": 1e9}, {"name": "cpu", "free_bytes": 1e5,
                   "bytes_per_second": 1e9, "multiply_adds_per_second": 1e9}]})")
            .string();
    const Result experts =
        tandem({"plan", "-m", mixture, "--device-table", with_cpu, "-sm", "none", "-cmoe"});
    EXPECT_NE(experts.out.find("\nblk.0-3     {0}  ffn 64 = 64 on {1}\n"), std::string::npos)
        << experts.out;
    EXPECT_TRUE(std::regex_match(
        experts.error, std::regex("warning: device cpu would be too full by .*: try fewer weights "
                                  "that are sent there \\(-ot, -cmoe, -ncmoe\\)\n")))
        << experts.error;
    EXPECT_EQ(
        plan({"--device-table", table, "-ot", "ffn=cpu"}).error,
        "error: device table " + table + " has no cpu for the weights that are to be there\n");
}

TEST(Synth, writes_a_file) {
    const std::string path = write_file("synth.gguf", "").string();
    const Result result =
        tandem({"synth", "qwen3-0.6b:Q4_0", "-o", path, "--layers", "1", "--seed", "3"});
    EXPECT_EQ(result.code, 0) << result.error;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.error.find("wrote " + path + ": Qwen3 0.6B, random weights, "), 0u)
        << result.error;
    EXPECT_EQ(gguf::File::open(path).metadata().integer("qwen3.block_count"), 1);
    std::filesystem::remove(path);
}

TEST(plan, says_that_a_number_of_layers_divides_nothing) {
    const auto error = [](std::vector<std::string> more) {
        more.insert(more.begin(),
                    {"plan", "-m", tiny_model().string(), "-dev", "reference,reference", "-ngl"});
        return tandem(more).error;
    };
    EXPECT_EQ(error({"1"}),
              "note: -ngl 1 divides nothing: -sm and -ts say how the devices of -dev share the "
              "layers\n");
    EXPECT_EQ(error({"1", "-ts", "3,1"}), "");
    for (const char* all : {"2", "99", "all"}) EXPECT_EQ(error({all}), "") << all;
}

// Whether there is a file that is to become this one.
bool has_unfinished(const std::filesystem::path& path) {
    for (const auto& entry : std::filesystem::directory_iterator(path.parent_path())) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(path.filename().string()) && name.ends_with(".incomplete"))
            return true;
    }
    return false;
}

TEST(Synth, leaves_nothing_when_interrupted) {
    for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
        const std::filesystem::path path = write_file("synth.gguf", "");
        std::filesystem::remove(path);
        Process process({"synth", "llama-8b:Q8_0", "-o", path.string()});
        for (int i = 0; i < 1000 && !has_unfinished(path); ++i) usleep(10000);
        EXPECT_TRUE(has_unfinished(path));
        process.interrupt(signal);
        const Result result = process.finish();
        EXPECT_EQ(result.code, 128 + signal) << result.error;
        EXPECT_EQ(result.error, "interrupted\n");
        EXPECT_FALSE(std::filesystem::exists(path));
        EXPECT_FALSE(has_unfinished(path));
    }
}

TEST(Synth, errors) {
    EXPECT_EQ(tandem({"synth"}).error,
              "error: no model named: give a preset and a type, such as llama-1b:Q4_K_M\n");
    EXPECT_EQ(tandem({"synth", "llama-1b:Q4_0"}).error,
              "error: no file given for the model: name one with -o\n");
    EXPECT_EQ(tandem({"synth", "gpt:Q4_0", "-o", "x"})
                  .error.find("error: there is no preset \"gpt\": choose one of "),
              0u);
    EXPECT_EQ(tandem({"synth", "llama-1b:Q9", "-o", "x"})
                  .error.find("error: there is no type \"Q9\" for weights: choose one of "),
              0u);
    const std::string folder = tiny_model().parent_path().string();
    EXPECT_EQ(tandem({"synth", "qwen3-0.6b:Q4_0", "--layers", "1", "-o", folder}).error,
              "error: cannot write " + folder + ": it is there, and not a regular file\n");
    const std::string list = tandem({"synth", "--list"}).out;
    for (const char* line : {
             R"(qwen3-30b-a3b .* vocabulary 151936, 128 experts, 8 used)",
             R"(qwen3-next-80b-a3b .* vocabulary 151936, 512 experts, 10 used and a shared one)",
             R"(llama-1b .* vocabulary 128256)",
         })
        EXPECT_TRUE(std::regex_search(list, std::regex("\n" + std::string(line) + "\n"))) << line;
}

}  // namespace

}  // namespace tandem::test
