// What the options of bench mean: ranges, and the order of tests.
#include <gtest/gtest.h>

#include "cli/bench/cases.h"
#include "cli/bench/ranges.h"
#include "cli/model_options.h"
#include "cli/subcommands.h"
#include "gguf/vectors.h"
#include "kernels/devices.h"

namespace tandem::cli {
namespace {

using test::error_of;
using Numbers = std::vector<int64_t>;
using Words = std::vector<std::string>;

TEST(Ranges, are_numbers_and_steps) {
    EXPECT_EQ(to_numbers("512", "-p"), (Numbers{512}));
    EXPECT_EQ(to_numbers("1,2,0", "-p"), (Numbers{1, 2, 0}));
    EXPECT_EQ(to_numbers("1-4", "-t"), (Numbers{1, 2, 3, 4}));
    EXPECT_EQ(to_numbers("64-256+64", "-p"), (Numbers{64, 128, 192, 256}));
    EXPECT_EQ(to_numbers("128-1024*2", "-p"), (Numbers{128, 256, 512, 1024}));
    EXPECT_EQ(to_numbers("1-3,7,5-9+2", "-p"), (Numbers{1, 2, 3, 7, 5, 7, 9}));
    EXPECT_EQ(to_numbers("-1", "-t", -1), (Numbers{-1}));
}

TEST(Ranges, must_come_to_an_end) {
    for (const char* text : {"", "x", "1-", "1--2", "4-1", "1-4+0", "1-4*1", "0-8*2", "1-4+", "1 2",
                             "1,,2", "-5", "99999999999", "1-2-3", "0-2000000000"})
        EXPECT_NE(error_of([&] { to_numbers(text, "--n-prompt"); }), "") << text;
    EXPECT_EQ(error_of([] { to_numbers("4-1", "--n-prompt"); }),
              "--n-prompt takes numbers and ranges, such as 128,512 or 1-4 or 64-256+64 or "
              "128-1024*2, not \"4-1\"");
    EXPECT_EQ(error_of([] { to_numbers("1-100000", "--n-prompt"); }),
              "--n-prompt takes 10000 numbers at most, and \"1-100000\" has more");
}

Cases cases_of(const std::vector<std::string>& words) {
    return read_cases(parse(bench_command, words));
}

std::string text_of(const Cases& cases) {
    std::string text;
    for (const Case& one : cases.list)
        text += std::to_string(one.prompt) + "/" + std::to_string(one.generated) + "@" +
                std::to_string(one.depth) + " ";
    return text;
}

TEST(Cases, defaults_are_those_of_llama_bench) {
    const Cases cases = cases_of({"-m", "a.gguf", "-sm", "layer"});
    EXPECT_EQ(text_of(cases), "512/0@0 0/128@0 ");
    EXPECT_EQ(cases.list[0].setup.model, "a.gguf");
    EXPECT_EQ(cases.list[0].batch, 2048);
    EXPECT_EQ(cases.list[0].step, 512);
    const Columns& columns = cases.columns;
    EXPECT_FALSE(columns.batch || columns.step || columns.key_type || columns.value_type ||
                 columns.main_device || columns.mode || columns.devices || columns.ratio);
}

TEST(Cases, prompts_come_before_generation_and_depth_around_both) {
    EXPECT_EQ(text_of(cases_of({"-m", "a", "-p", "1,2", "-n", "3", "-d", "0,9", "-pg", "4,5"})),
              "1/0@0 2/0@0 0/3@0 4/5@0 1/0@9 2/0@9 0/3@9 4/5@9 ");
    EXPECT_EQ(text_of(cases_of({"-m", "a", "-p", "0", "-n", "3"})), "0/3@0 ");
}

TEST(Cases, models_and_modes_vary_slowest) {
    const Cases cases = cases_of({"-m", "a,b", "-m", "c", "-sm", "none,layer", "-p", "1", "-n", "0",
                                  "-ub", "8,16", "-ctk", "f16,q8_0"});
    ASSERT_EQ(cases.list.size(), 24u);
    EXPECT_EQ(cases.list[7].setup.model, "a");
    EXPECT_EQ(cases.list[8].setup.model, "b");
    EXPECT_EQ(cases.list[3].setup.mode, "none");
    EXPECT_EQ(cases.list[4].setup.mode, "layer");
    EXPECT_EQ(cases.list[1].setup.key_type, gguf::DType::Q8_0);
    EXPECT_EQ(cases.list[2].step, 16);
    EXPECT_TRUE(cases.columns.mode && cases.columns.step && cases.columns.key_type);
    EXPECT_FALSE(cases.columns.value_type || cases.columns.devices);
}

TEST(Cases, sets_are_repeated_or_have_slashes) {
    using Devices = std::vector<std::string>;
    using Ratio = std::vector<double>;
    const Cases plain = cases_of(
        {"-m", "a", "-n", "0", "-dev", "cpu:0,cpu:1", "-dev", "cpu", "-ts", "3,1", "-ts", "1,1"});
    ASSERT_EQ(plain.list.size(), 4u);
    EXPECT_EQ(plain.list[0].setup.devices, (Devices{"cpu:0", "cpu:1"}));
    EXPECT_EQ(plain.list[2].setup.devices, (Devices{"cpu"}));
    EXPECT_EQ(plain.list[0].setup.ratio, (Ratio{3, 1}));
    EXPECT_EQ(plain.list[1].setup.ratio, (Ratio{1, 1}));
    const Cases slashes =
        cases_of({"-m", "a", "-n", "0", "-dev", "cpu:0/cpu:1,cpu,auto", "-ts", "3/1,0"});
    ASSERT_EQ(slashes.list.size(), 6u);
    EXPECT_EQ(slashes.list[0].setup.devices, (Devices{"cpu:0", "cpu:1"}));
    EXPECT_EQ(slashes.list[2].setup.devices, (Devices{"cpu"}));
    EXPECT_EQ(slashes.list[4].setup.devices, Devices());
    EXPECT_EQ(slashes.list[0].setup.ratio, (Ratio{3, 1}));
    EXPECT_EQ(slashes.list[1].setup.ratio, Ratio());
}

TEST(Cases, names_with_commas_stand_in_quotes) {
    const Cases cases = cases_of({"-m", "\"a,b\",c\"d,\"e\"\"f\"", "-p", "1", "-n", "0"});
    ASSERT_EQ(cases.list.size(), 3u);
    EXPECT_EQ(cases.list[0].setup.model, "a,b");
    EXPECT_EQ(cases.list[1].setup.model, "c\"d");
    EXPECT_EQ(cases.list[2].setup.model, "e\"f");
}

TEST(Cases, options_of_llama_bench_are_known) {
    EXPECT_EQ(text_of(cases_of({"-m", "a", "-fa", "0,1", "-ngl", "99", "-mmp", "0", "-ncmoe", "0",
                                "-nkvo", "0", "-embd", "0", "--prio", "0", "--no-warmup", "-v"})),
              "512/0@0 0/128@0 ");
}

TEST(Cases, weights_on_devices_of_their_own) {
    const Cases cases = cases_of({"-m", "a", "-n", "0", "-sm", "layer", "-ncmoe", "0,4", "-ot",
                                  "ffn=cpu;attn=vulkan1,exps=cpu"});
    ASSERT_EQ(cases.list.size(), 4u);
    EXPECT_EQ(cases.list[0].setup.overrides.expert_blocks, 0);
    EXPECT_EQ(cases.list[0].setup.overrides.tensors, (Words{"ffn=cpu", "attn=vulkan1"}));
    EXPECT_EQ(cases.list[1].setup.overrides.tensors, Words{"exps=cpu"});
    EXPECT_EQ(cases.list[2].setup.overrides.expert_blocks, 4);
    EXPECT_TRUE(cases.columns.expert_blocks && cases.columns.overrides);
    EXPECT_EQ(cases_of({"-m", "a", "-cmoe"}).list[0].setup.overrides.expert_blocks,
              parallel::all_blocks);
    EXPECT_EQ(error_of([] {
                  cases_of({"-m", "a", "-ot", "ffn"});
              }),
              "-ot takes REGEX=DEVICE, such as ffn_.*_exps=cpu, not \"ffn\"");
}

TEST(Cases, no_layers_on_a_gpu_is_the_cpu) {
    using Devices = std::vector<std::string>;
    const Cases cases = cases_of({"-m", "a", "-n", "0", "-ngl", "0,33,99"});
    ASSERT_EQ(cases.list.size(), 2u);
    EXPECT_EQ(cases.list[0].setup.devices, kernels::cpu_devices());
    EXPECT_EQ(cases.list[1].setup.devices, Devices());
    EXPECT_EQ(cases_of({"-m", "a", "-n", "0", "-ngl", "0", "-dev", "cpu:0"}).list[0].setup.devices,
              Devices{"cpu:0"});
}

TEST(Cases, layers_on_a_gpu_are_numbers_or_all) {
    auto sets = [](const char* layers) {
        return cases_of({"-m", "a", "-n", "0", "-ngl", layers}).list.size();
    };
    EXPECT_EQ(sets("0-1"), 2u);
    EXPECT_EQ(sets("-2,0-40+10,all"), 2u);
    for (const char* some : {"auto", "all", "-1", "-2", "1-40"}) EXPECT_EQ(sets(some), 1u) << some;
    for (const char* none : {"", "foo", "0x1", "1.5", "-3", "1-", "auto,"})
        EXPECT_NE(error_of([&] { sets(none); }).find("--n-gpu-layers, beside auto and all, takes "),
                  std::string::npos)
            << none;
    EXPECT_NE(error_of([] { cases_of({"-m", "a", "-dev", "cpu", "-ngl", "foo"}); }), "");
}

TEST(Cases, modes_are_those_that_a_run_takes_for_the_devices) {
    const std::string nodes = "cpu:node0,cpu:node1";
    const Cases usual = cases_of({"-m", "a", "-n", "0", "-dev", nodes, "-dev", "cpu", "-ngl", "0"});
    ASSERT_EQ(usual.list.size(), 2u);
    EXPECT_EQ(usual.list[0].setup.mode, "tensor");
    EXPECT_EQ(usual.list[1].setup.mode, "layer");
    EXPECT_TRUE(usual.columns.mode);
    for (const Case& one : cases_of({"-m", "a", "-ngl", "0,99"}).list)
        EXPECT_EQ(one.setup.mode, usual_mode(devices_of(one.setup)));
    const Cases chosen = cases_of({"-m", "a", "-n", "0", "-dev", nodes, "-sm", "layer,none"});
    ASSERT_EQ(chosen.list.size(), 2u);
    EXPECT_EQ(chosen.list[0].setup.mode, "layer");
    EXPECT_EQ(chosen.list[1].setup.mode, "none");
}

TEST(Cases, errors_name_the_option) {
    EXPECT_NE(error_of([] { cases_of({}); }).find("no model given: name a GGUF file with -m"),
              std::string::npos);
    for (const char* models : {"", ",", "a,", "a,,b"})
        EXPECT_EQ(error_of([&] {
                      cases_of({"-m", models});
                  }),
                  "--model takes names separated by commas, none of them empty, not \"" +
                      std::string(models) + "\"");
    EXPECT_EQ(error_of([] {
                  cases_of({"-m", "a", "--layers", "1"});
              }),
              "--layers is for --synthetic: the model of a file has the layers it has");
    EXPECT_NE(error_of([] {
                  cases_of({"-m", "a", "-pg", "5"});
              }).find("-pg takes two numbers"),
              std::string::npos);
    EXPECT_NE(error_of([] {
                  cases_of({"-m", "a", "-ctk", "q9"});
              }).find("\"q9\""),
              std::string::npos);
    EXPECT_NE(error_of([] {
                  cases_of({"-m", "a", "-b", "0"});
              }).find("--batch-size"),
              std::string::npos);
    EXPECT_EQ(error_of([] {
                  cases_of({"-m", "a", "-p", "0", "-n", "0"});
              }),
              "there is nothing to measure: give tokens to -p, -n or -pg");
}

}  // namespace
}  // namespace tandem::cli
