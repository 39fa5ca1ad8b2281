// The command line: names, values, what is refused.
#include "cli/options.h"

#include <gtest/gtest.h>

#include "cli/model_options.h"
#include "gguf/error.h"
#include "gguf/vectors.h"
#include "parallel/policy.h"

namespace tandem::test {

using namespace cli;

namespace {

constexpr Option list[] = {
    {"-p, --prompt", "TEXT", "what to say"},
    {"-c, --ctx-size", "N", "tokens"},
    {"-sm, --split-mode", "MODE", "how"},
    {"--temp, --temperature", "T", "heat"},
    {"-e, --escape", "", "a switch"},
    {"-fa, --flash-attn", "[on|off|auto]", "an optional value"},
    {"-ngl, --gpu-layers", "N", "", Effect::Ignored},
    {"-Cr, --cpu-range", "R", "say -dev cpu:0-3", Effect::Ignored, "0|all"},
    {"--no-offload", "", "it stays", Effect::Ignored},
    {"--lora", "FILE", "merge it into the model", Effect::Refused},
    {"--mirostat", "N", "other samplers are there", Effect::Refused, "0"},
};
constexpr OptionGroup group{"some", list};
constexpr const OptionGroup* groups[] = {&group};
const Subcommand command{"try", "Tries.", "-p TEXT", groups, nullptr};
constexpr Term shades[] = {{"TINT", "the shade"}}, lights[] = {{"LAMP", "how bright"}};
constexpr Glossary first{"environment", shades}, second{"environment", lights};
constexpr const Glossary* glossaries[] = {&first, &second};
const Subcommand explained{"try", "Tries.", "-p TEXT", groups, nullptr, {}, glossaries};
const Subcommand with_bare{"try", "Tries.", "FILE", groups, nullptr, "prompt"};

Arguments read(std::vector<std::string> words) { return parse(command, words); }

std::string fault(std::vector<std::string> words) {
    return error_of([&] { read(words); });
}

}  // namespace

TEST(options, names_of_any_length_lead_to_the_same_value) {
    for (const char* name : {"-sm", "--split-mode", "--split_mode"})
        EXPECT_EQ(read({name, "graph"}).text("split-mode"), "graph") << name;
    EXPECT_EQ(read({"--split_mode=graph"}).text("split-mode"), "graph");
    EXPECT_EQ(read({"-sm=graph"}).text("split-mode"), "graph");
    EXPECT_EQ(read({"--temperature", "2"}).real("temp", 1), 2);
}

TEST(options, values_may_look_like_anything) {
    EXPECT_EQ(read({"-p", "-x"}).text("prompt"), "-x");
    EXPECT_EQ(read({"-p", "-c or not"}).text("prompt"), "-c or not");
    EXPECT_EQ(read({"-p", "-c=5"}).text("prompt"), "-c=5");
    EXPECT_EQ(read({"--prompt=-c"}).text("prompt"), "-c");
    EXPECT_EQ(read({"-p=-c"}).text("prompt"), "-c");
    EXPECT_EQ(read({"-p", "a\nb=c d"}).text("prompt"), "a\nb=c d");
    EXPECT_EQ(read({"-p", ""}).text("prompt", "x"), "");
    EXPECT_EQ(read({"-p="}).text("prompt", "x"), "");
    EXPECT_EQ(read({"--prompt=a=b"}).text("prompt"), "a=b");
    EXPECT_EQ(read({"-c", "-1"}).integer("ctx-size", 0), -1);
    std::string prompt(100000, 'x');
    EXPECT_EQ(read({"-p", prompt}).text("prompt"), prompt);
    EXPECT_EQ(read({"-p=" + prompt}).text("prompt"), prompt);
}

TEST(options, help_is_asked_for_by_words_that_are_no_values) {
    auto asks = [](const std::vector<std::string>& words) { return asks_for_help(command, words); };
    for (const char* help : {"-h", "--help", "--usage"}) {
        for (const char* option : {"-p", "--prompt", "-ngl", "--lora"})
            EXPECT_FALSE(asks({option, help})) << option;
        EXPECT_FALSE(asks({std::string("-p=") + help}));
        EXPECT_TRUE(asks({help}));
        EXPECT_TRUE(asks({"-p", help, help}));
        EXPECT_TRUE(asks({"-p=x", help}));
        for (const char* option : {"-e", "--no-escape", "-fa", "--bogus", "hello"})
            EXPECT_TRUE(asks({option, help})) << option;
        EXPECT_TRUE(asks({"-fa", "on", help}));
    }
    EXPECT_EQ(read({"-p", "-h"}).text("prompt"), "-h");
}

TEST(options, the_last_mention_counts_and_all_can_be_had) {
    Arguments arguments = read({"-p", "a,b", "--prompt", "c"});
    EXPECT_EQ(arguments.text("prompt"), "c");
    EXPECT_EQ(arguments.texts("prompt"), (std::vector<std::string>{"a,b", "c"}));
    EXPECT_FALSE(arguments.has("ctx-size"));
    EXPECT_EQ(arguments.integer("ctx-size", 7), 7);
    EXPECT_TRUE(arguments.texts("ctx-size").empty());
}

TEST(options, switches_have_an_opposite) {
    EXPECT_TRUE(read({"-e"}).on("escape"));
    EXPECT_TRUE(read({}).on("escape", true));
    EXPECT_FALSE(read({"--no-escape"}).on("escape", true));
    EXPECT_FALSE(read({"--no_escape"}).on("escape", true));
    EXPECT_FALSE(read({"--escape=off"}).on("escape", true));
    EXPECT_EQ(error_of([] { (void)read({"--escape=maybe"}).on("escape"); }),
              "--escape takes on or off, not \"maybe\"");
}

TEST(options, a_value_may_be_left_out_where_the_option_says_so) {
    EXPECT_EQ(read({"-fa", "-p", "x"}).text("prompt"), "x");
    EXPECT_EQ(read({"-fa", "off"}).text("flash-attn"), "off");
    EXPECT_EQ(read({"-fa"}).text("flash-attn"), "");
    EXPECT_EQ(read({"-p", "x", "-fa"}).text("prompt"), "x");
}

TEST(options, foreign_options_are_ignored_or_refused_with_a_reason) {
    EXPECT_FALSE(read({"-ngl", "99"}).has("gpu-layers"));
    EXPECT_EQ(fault({"--lora", "x"}), "option --lora is not supported: merge it into the model");
    EXPECT_EQ(fault({"--mirostat", "2"}),
              "option --mirostat is not supported: other samplers are there");
    for (const char* off : {"0", "0.00", "-0"}) EXPECT_EQ(fault({"--mirostat", off}), "") << off;
    EXPECT_NE(fault({"--mirostat", ""}), "");
}

TEST(options, ignored_requests_are_noted_where_something_else_would_do) {
    const auto notes = [](const std::vector<std::string>& words) {
        const Arguments arguments = read(words);
        return std::vector<std::string>(arguments.notes().begin(), arguments.notes().end());
    };
    using Notes = std::vector<std::string>;
    EXPECT_EQ(notes({"-Cr", "0-3", "-ngl", "99", "--no-offload"}),
              (Notes{"-Cr 0-3 has no effect: say -dev cpu:0-3",
                     "--no-offload has no effect: it "
                     "stays"}));
    for (const char* nothing : {"0", "all"})
        EXPECT_EQ(notes({"--cpu-range", nothing}), Notes()) << nothing;
    EXPECT_EQ(notes({"-ngl", "99"}), Notes());
}

TEST(options, requests_of_other_programs_are_noted) {
    constexpr const OptionGroup* known[] = {&foreign_options};
    const Subcommand foreign{"try", "Tries.", "", known, nullptr};
    const auto count = [&](const std::vector<std::string>& words) {
        return parse(foreign, words).notes().size();
    };
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"-C", "f"},
                                               {"-Cr", "0-3"},
                                               {"-tb", "4"},
                                               {"--numa", "distribute"},
                                               {"-nkvo"},
                                               {"--no-kv-offload"}})
        EXPECT_EQ(count(words), 1u) << words[0];
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"-C", "0x0"}, {"-kvo"}, {"--mlock"}, {"-fa"}})
        EXPECT_EQ(count(words), 0u) << words[0];
}

TEST(options, what_is_wrong_is_named) {
    EXPECT_EQ(fault({"--bogus"}), "unknown option --bogus for try; tandem try --help lists them");
    EXPECT_EQ(fault({"--bogus=3"}), "unknown option --bogus for try; tandem try --help lists them");
    EXPECT_EQ(fault({"-pp", "1"}), "unknown option -pp for try; tandem try --help lists them");
    EXPECT_EQ(fault({"--no-"}), "unknown option --no- for try; tandem try --help lists them");
    EXPECT_EQ(fault({"--no-escape=false"}), "option --no-escape takes no value");
    EXPECT_EQ(fault({"-c"}), "option -c of try needs a value: -c N");
    EXPECT_EQ(fault({"-p", "-c", "5"}),
              "option -p of try needs a value: -p TEXT, but is followed by the option -c; if that "
              "is the value, write -p=-c");
    for (const char* option : {"-p", "--ctx_size", "--no-escape", "-fa", "--lora"})
        EXPECT_NE(fault({"-c", option}).find("is followed by the option " + std::string(option)),
                  std::string::npos)
            << option;
    EXPECT_EQ(fault({"hello"}),
              "unexpected word \"hello\" for try; tandem try --help shows its options");
    EXPECT_EQ(parse(with_bare, std::vector<std::string>{"hello"}).text("prompt"), "hello");
    EXPECT_EQ(error_of([] {
                  parse(with_bare, std::vector<std::string>{"hello", "world"});
              }),
              "unexpected word \"world\" for try; tandem try --help shows its options");
}

TEST(options, numbers_are_checked) {
    auto size = [](const char* text) {
        return error_of([&] { (void)read({"-c", text}).integer("ctx-size", 0, 0); });
    };
    EXPECT_EQ(size("x"), "--ctx-size takes a whole number, 0 or more, not \"x\"");
    EXPECT_EQ(size("-1"), "--ctx-size takes a whole number, 0 or more, not \"-1\"");
    EXPECT_EQ(size("3.5"), "--ctx-size takes a whole number, 0 or more, not \"3.5\"");
    EXPECT_EQ(size(""), "--ctx-size takes a whole number, 0 or more, not \"\"");
    EXPECT_EQ(size("99999999999999999999"),
              "--ctx-size takes a whole number from 0 to 2147483647, not \"99999999999999999999\"");
    EXPECT_EQ(size("+5"), "");
    auto heat = [](const char* text) {
        return error_of([&] { (void)read({"--temp", text}).real("temp", 0, 0, 1); });
    };
    EXPECT_EQ(heat("2"), "--temp takes a number from 0 to 1, not \"2\"");
    EXPECT_EQ(heat("nan"), "--temp takes a number from 0 to 1, not \"nan\"");
    EXPECT_EQ(heat(".5"), "");
    EXPECT_EQ(heat("1e-400"), "");
    EXPECT_EQ(heat("1e400"), "--temp takes a number from 0 to 1, not \"1e400\"");
}

TEST(options, help_has_all_split_modes) {
    std::string said;
    for (const Option& option : device_options.options)
        if (option.names == "-sm, --split-mode") said = option.sentence;
    for (const parallel::Policy& policy : parallel::policies())
        EXPECT_NE(said.find(std::string(policy.name) + ": " + std::string(policy.sentence)),
                  std::string::npos)
            << policy.name << " in \"" << said << "\"";
}

TEST(options, help_lists_what_works_and_sums_up_the_rest) {
    EXPECT_EQ(help(command), R"(tandem try: Tries.

usage: tandem try -p TEXT

some:
  -p, --prompt TEXT                     what to say
  -c, --ctx-size N                      tokens
  -sm, --split-mode MODE                how
  --temp, --temperature T               heat
  -e, --escape                          a switch
  -fa, --flash-attn [on|off|auto]       an optional value

accepted for scripts that were written for llama.cpp, without effect:
  -ngl, --gpu-layers, -Cr, --cpu-range, --no-offload

known from llama.cpp and not supported; each says why:
  --lora, --mirostat
)");
}

TEST(options, help_explains_what_is_no_option) {
    EXPECT_NE(help(explained).find(R"(an optional value

environment:
  TINT                                  the shade
  LAMP                                  how bright

accepted )"),
              std::string::npos)
        << help(explained);
}

TEST(options, memory_nodes_share_every_layer) {
    using Names = std::vector<std::string>;
    EXPECT_EQ(usual_mode(Names{"cpu:node0", "cpu:node1"}), "tensor");
    EXPECT_EQ(usual_mode(Names{"CPU:Node0", "cpu:node1"}), "tensor");
    for (const Names& names :
         {Names{"cpu:node0"}, Names{"cpu:0", "cpu:1"}, Names{"cpu:node0", "vulkan0"}})
        EXPECT_EQ(usual_mode(names), "layer");
}

TEST(options, a_command_has_one_model) {
    constexpr const OptionGroup* known[] = {&file_options};
    const Subcommand one{"try", "Tries.", "-m FILE", known, nullptr};
    const auto path = [&](const std::vector<std::string>& words) {
        return model_path(parse(one, words));
    };
    EXPECT_EQ(path({"-m", "a.gguf"}), "a.gguf");
    EXPECT_EQ(path({"-m", "a.gguf", "--model=a.gguf"}), "a.gguf");
    EXPECT_EQ(error_of([&] {
                  path({"-m", "a.gguf", "-m", "b.gguf"});
              }),
              "two models given, a.gguf and b.gguf: name one with -m");
    EXPECT_EQ(error_of([&] { path({}); }), "no model given: name a GGUF file with -m");
}

TEST(options, devices_ratios_and_types) {
    EXPECT_EQ(to_devices("cpu:0-3,reference"), (std::vector<std::string>{"cpu:0-3", "reference"}));
    EXPECT_EQ(to_devices("none"), kernels::cpu_devices());
    for (const char* none : {"", ",", "cpu,"})
        EXPECT_EQ(error_of([&] { to_devices(none); }),
                  "no device to run on: -dev takes names separated by commas, such as cpu or "
                  "cpu:0-3,cpu:4-7, not \"" +
                      std::string(none) + "\"");
    EXPECT_EQ(to_ratio("3,1"), (std::vector<double>{3, 1}));
    EXPECT_EQ(to_ratio("3/1"), (std::vector<double>{3, 1}));
    EXPECT_EQ(error_of([] { to_ratio("3,x"); }),
              "a share of -ts takes a number, 0 or more, not \"x\"");
    EXPECT_EQ(error_of([] { to_ratio("1e308,1e308"); }),
              "a share of -ts takes a number from 0 to 1e+15, not \"1e308\"");
    EXPECT_EQ(to_cache_type("q4_0"), gguf::DType::Q4_0);
    EXPECT_EQ(to_cache_type("F32"), gguf::DType::F32);
    EXPECT_EQ(error_of([] { to_cache_type("q4_1"); }),
              "cache type \"q4_1\" does not exist; choose f32, f16, bf16, q8_0 or q4_0");
}

}  // namespace tandem::test
