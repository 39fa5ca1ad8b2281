// What goes wrong is one line on standard error and exit code 1.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <regex>

#include "cli/options.h"
#include "cli/process.h"
#include "cli/tiny_model.h"
#include "data.h"
#include "gguf/writer.h"
#include "kernels/cpu/variants.h"

namespace tandem::test {

namespace {

using Words = std::vector<std::string>;

void expect_error(const Words& words, const std::string& line) {
    Result result = tandem(words);
    EXPECT_EQ(result.code, 1) << line;
    EXPECT_EQ(result.out, "") << line;
    EXPECT_EQ(result.error, "error: " + line + "\n");
}

Words run(const Words& more) {
    Words words{"run", "-m", tiny_model().string(), "-p", "abc", "-n", "2"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

// A file that holds keys alone.
std::string file_of(const std::string& name, const gguf::Metadata& metadata) {
    std::filesystem::path path = write_file(name, "");
    gguf::Writer writer(path, metadata, {});
    writer.finish();
    return path.string();
}

}  // namespace

TEST(errors, commands_and_options) {
    expect_error({}, "no command given; tandem --help lists them");
    expect_error({"walk"}, "unknown command walk; tandem --help lists them");
    expect_error({"-m", "x"}, "unknown command -m; tandem --help lists them");
    expect_error({"prelexity"},
                 "unknown command prelexity; did you mean perplexity? tandem --help lists them");
    expect_error({"run", "--temprature", "0"},
                 "unknown option --temprature for run; did you mean --temperature? tandem run "
                 "--help lists them");
    expect_error({"run", "--bogus"},
                 "unknown option --bogus for run; tandem run --help lists them");
    expect_error({"run", "hello"},
                 "unexpected word \"hello\" for run; tandem run --help shows its options");
    expect_error({"run", "-m"}, "option -m of run needs a value: -m FILE");
    expect_error({"run"}, "no model given: name a GGUF file with -m");
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"inspect", "a.gguf", "-m", "b.gguf"},
          {"inspect", "-m=b.gguf", "a.gguf"}})
        expect_error(words, "\"a.gguf\" and -m say the same for inspect: give one of them");
    expect_error({"inspect"}, "no model given: name a GGUF file with -m");
    expect_error(run({"--lora", "x"}),
                 "option --lora is not supported: merge the adapter into the model file");
    expect_error(run({"--list-devices"}),
                 "option --list-devices is not supported: tandem devices lists them");
    for (const Words& words :
         {Words{"--in-prefix", "x"}, Words{"-if"}, Words{"-mli"}, Words{"--log-file", "x"},
          Words{"--check-tensors"}, Words{"--yarn-ext-factor", "2"}, Words{"-gan", "2"},
          Words{"-bf", "x"}, Words{"-hff", "x"}, Words{"-ptc", "5"}, Words{"-np", "2"}})
        EXPECT_TRUE(tandem(run(words))
                        .error.starts_with("error: option " + words[0] + " is not supported: "))
            << words[0];
    expect_error(run({"-f", "x"}),
                 "more than one text given: choose one of -p, -f and standard input");
}

TEST(errors, files) {
    expect_error({"run", "-m", "/no/model.gguf"},
                 "/no/model.gguf: E_IO: cannot be opened: No such file or directory");
    expect_error({"run", "-m", "/"}, "/: E_IO: is not a regular file");
    std::string text = write_file("text.gguf", "hello world").string();
    expect_error({"run", "-m", text},
                 text + ": E_MAGIC: not a GGUF file: it begins with \"hell\" (file offset 0x0)");
    std::string cut = write_file("cut.gguf", read_file(tiny_model()).substr(0, 40000)).string();
    Result result = tandem({"run", "-m", cut});
    EXPECT_EQ(result.code, 1);
    EXPECT_NE(result.error.find("if it is a download, it is incomplete"), std::string::npos);
    EXPECT_EQ(std::count(result.error.begin(), result.error.end(), '\n'), 1);
    expect_error({"run", "-m", tiny_model().string(), "-f", "/no/prompt.txt"},
                 "cannot read the prompt from /no/prompt.txt: No such file or directory");
    expect_error({"run", "-m", tiny_model().string(), "-f", "/"},
                 "cannot read the prompt from /: Is a directory");
}

TEST(errors, every_cut_of_a_file_is_an_error) {
    std::string bytes = read_file(tiny_model());
    for (size_t size = 0; size < bytes.size(); size += bytes.size() / 25) {
        std::string path = write_file("cut.gguf", bytes.substr(0, size)).string();
        Result result = tandem({"run", "-m", path, "-p", "x"});
        EXPECT_EQ(result.code, 1) << size;
        EXPECT_TRUE(result.error.starts_with("error: " + path + ": E_")) << result.error;
        EXPECT_EQ(std::count(result.error.begin(), result.error.end(), '\n'), 1) << result.error;
    }
}

TEST(errors, a_full_disk_behind_standard_output) {
    const std::string model = " -m " + quoted(tiny_model()), one = " -dev reference";
    for (const std::string& words :
         {std::string("--help"), std::string("run --help"), std::string("devices"),
          std::string("synth --list"), "plan" + model + one, "plan --json" + model + one,
          "inspect" + model, "tokenize -p abc" + model, "run -p abc -n 2" + model + one,
          "logits --tokens 1 -o /dev/null" + model + one}) {
        const Result result = shell(quoted(TANDEM_BINARY) + " " + words + " >/dev/full");
        EXPECT_EQ(result.code, 1) << words;
        EXPECT_NE(result.error.find("error: cannot write "), std::string::npos)
            << words << ": " << result.error;
    }
}

TEST(errors, options_before_the_prompt_is_waited_for) {
    const std::filesystem::path endless = write_file("endless", "");
    std::filesystem::remove(endless);
    ASSERT_EQ(mkfifo(endless.c_str(), 0600), 0);
    for (const char* option : {"--temp foo", "-sm row", "--display-prompt=x", "--escape=x"}) {
        const Result result =
            shell("timeout 20 " + quoted(TANDEM_BINARY) + " run -dev reference -m " +
                  quoted(tiny_model()) + " " + option + " 0<>" + quoted(endless));
        EXPECT_EQ(result.code, 1) << option;
        EXPECT_TRUE(result.error.starts_with("error: ")) << option;
    }
}

TEST(errors, architectures_and_vocabularies) {
    gguf::Metadata martian;
    martian.set_string("general.architecture", "mar\ntian\033[1m");
    std::string path = file_of("martian.gguf", martian);
    Result result = tandem({"logits", "-m", path, "--tokens", "1", "-o", "/dev/null"});
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(result.error.starts_with(
        "error: " + path +
        ": architecture \"mar\\ntian\\x1b[1m\" is not supported; supported "
        "are "))
        << result.error;
    EXPECT_EQ(tandem({"run", "-m", path, "-p", "x"}).code, 1);
    EXPECT_EQ(tandem({"tokenize", "-m", path, "-p", "x"}).code, 1);
}

TEST(errors, devices_and_ratios) {
    expect_error(run({"-dev", ""}),
                 "no device to run on: -dev takes names separated by commas, such as cpu or "
                 "cpu:0-3,cpu:4-7, not \"\"");
    for (const char* none : {"zero", "", "-3", "1.5"})
        expect_error(run({"-dev", "reference", "-ngl", none}),
                     "--gpu-layers, beside auto and all, takes a whole number, -2 or more, not \"" +
                         std::string(none) + "\"");
    for (const char* some : {"auto", "all", "-2", "0", "99"})
        EXPECT_EQ(tandem(run({"-dev", "reference", "-ngl", some})).code, 0) << some;
    Result result = tandem(run({"-dev", "gpu7"}));
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(result.error.starts_with("error: device \"gpu7\" does not exist; "))
        << result.error;
    const Words two{"-dev", "reference,reference"};
    auto with = [&](const Words& more) {
        Words words = run(two);
        words.insert(words.end(), more.begin(), more.end());
        return words;
    };
    expect_error(with({"-ts", "1"}), "-ts takes one share for each device, 2 in all, not 1");
    expect_error(with({"-ts", "0,0"}), "-ts: at least one share must be above 0");
    expect_error(with({"-ts", "3,x"}), "a share of -ts takes a number, 0 or more, not \"x\"");
    expect_error(with({"-ts", "3,-1"}), "a share of -ts takes a number, 0 or more, not \"-1\"");
    expect_error(with({"-ts", "nan,1"}), "a share of -ts takes a number, 0 or more, not \"nan\"");
    expect_error(with({"-sm", "row"}),
                 "split mode \"row\" does not exist; choose one of none, layer, tensor, graph");
    expect_error(with({"-sm", "none", "-mg", "2"}), "-mg 2: there are 2 devices, counted from 0");
    expect_error(with({"--device-table", "/no/table.json"}),
                 "cannot read the device table from /no/table.json: No such file or directory");
    expect_error({"devices", "-dev", "reference", "-o", "/no/table.json"},
                 "cannot write the device table to /no/table.json: No such file or directory");
    expect_error(with({"--device-table", "/"}),
                 "cannot read the device table from /: Is a directory");
    expect_error(with({"--device-table", "/dev/zero"}),
                 "cannot read the device table from /dev/zero: it has more than 16 MiB");
    const std::string no_table = write_file("no.json", "{\"devices\": [}").string();
    expect_error(with({"--device-table", no_table}),
                 "device table " + no_table + ": is no JSON from byte 14 on");
    expect_error(with({"--reduce-type", "q4_0"}),
                 "reduce type \"q4_0\" does not exist; choose f32, f16 or bf16");
    expect_error(with({"-ctk", "q4_1"}),
                 "cache type \"q4_1\" does not exist; choose f32, f16, bf16, q8_0 or q4_0");
}

TEST(errors, sizes) {
    expect_error(run({"-c", "8"}),
                 "prompt is too long (5 tokens, max 4): a longer context (-c) has room for it");
    expect_error(run({"-c", "-5"}), "--ctx-size takes a whole number, 0 or more, not \"-5\"");
    expect_error(run({"-ub", "0"}), "--ubatch-size takes a whole number, 1 or more, not \"0\"");
    expect_error(run({"-n", "many"}), "--predict takes a whole number, -2 or more, not \"many\"");
    const auto too_large = [](const Words& devices, const Words& more) {
        Words words = with_little_memory(devices);
        words.insert(words.end(), {"-c", "2000000000", "-ctk", "f32"});
        words.insert(words.end(), more.begin(), more.end());
        return tandem(run(words));
    };
    Result result = too_large({"reference"}, {"-dev", "reference", "-ctv", "f32"});
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(std::regex_search(
        result.error,
        std::regex(
            R"(^error: device reference needs \S+ [GT]iB \(weights 132\.1 KiB, cache \S+ [GT]iB, )"
            R"(scratch .*\) and has 1 GiB free, \S+ [GT]iB too few: try )")))
        << result.error;
    EXPECT_NE(result.error.find("try a shorter context (-c)"), std::string::npos);
    EXPECT_EQ(std::count(result.error.begin(), result.error.end(), '\n'), 1) << result.error;
    // Experts could leave a device that is not the CPU, unless something has left it already.
    const auto of_experts = [&](const Words& more) {
        Words words = with_little_memory({"reference", "cpu"});
        words.insert(words.end(), {"-dev", "reference", "-c", "2000000000", "-m",
                                   test::data("fixtures/qwen3moe.gguf").string()});
        words.insert(words.end(), more.begin(), more.end());
        Words command{"run", "-p", "a"};
        command.insert(command.end(), words.begin(), words.end());
        return tandem(command).error;
    };
    EXPECT_NE(of_experts({}).find(", experts on the CPU (-cmoe) or more devices (-dev)"),
              std::string::npos)
        << of_experts({});
    const std::string moved = of_experts({"-cmoe"});
    EXPECT_NE(moved.find(" too few: try "), std::string::npos) << moved;
    EXPECT_EQ(moved.find("(-cmoe)"), std::string::npos) << moved;
    // Of several devices each one's share is told.
    result = too_large({"reference", "cpu"}, {"-dev", "reference,cpu"});
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(std::regex_search(
        result.error, std::regex(R"(\n  reference: weights \S+ KiB, cache .*, of 1 GiB free\n)"
                                 R"(  cpu: weights \S+ KiB, cache .*, of 1 GiB free\n$)")))
        << result.error;
}

TEST(errors, contexts_that_files_claim) {
    const std::string key = "llama.context_length";
    std::string bytes = read_file(tiny_model());
    const size_t value = bytes.find(key) + key.size();
    // Its type is an unsigned number, then the number.
    auto claim = [&](char type, const char* number) {
        bytes.replace(value, 8, std::string{type, 0, 0, 0} + std::string(number, 4));
        return write_file("claim.gguf", bytes).string();
    };
    const std::string negative = claim(5, "\xFB\xFF\xFF\xFF");
    const Result unknown =
        tandem({"run", "-m", negative, "-dev", "reference", "-p", "abc", "-n", "2", "-c", "0"});
    EXPECT_EQ(unknown.code, 0) << unknown.error;
    const std::string large = claim(4, "\xFF\xFF\xFF\xFF");
    EXPECT_NE(tandem({"plan", "-m", large, "-dev", "reference"})
                  .error.find("4096 tokens of the 2147483647 that the model was trained for"),
              std::string::npos);
}

TEST(errors, sampling) {
    expect_error(run({"-s", "-2"}), "--seed takes a whole number, -1 or more, not \"-2\"");
    expect_error(run({"--temp", "hot"}), "--temp takes a number, not \"hot\"");
    expect_error(run({"--temp", "1e39"}),
                 "--temp takes a number, 3.4028234663852886e+38 or less, not \"1e39\"");
    expect_error(run({"--repeat-penalty", "0"}),
                 "sampling: the repeat penalty is 0, expected a number above 0");
    for (const std::string wrong : {"5", "", "+1"})
        expect_error(run({"-l", "7-1," + wrong}),
                     "-l takes tokens, each with what is added to its logit, such as "
                     "15043+1,29889-inf, not \"" +
                         wrong + "\"");
    expect_error(run({"-l", "x+1"}), "-l x+1: a token takes a whole number, 0 or more, not \"x\"");
    expect_error(run({"-l", "5+x"}), "-l 5+x: a bias takes a number, not \"+x\"");
    expect_error(run({"-l", "999+1"}), "-l 999+1: the model has tokens 0 to 285");
    auto recommending = [](const char* key) {
        return changed_tiny_model("nan.gguf",
                                  {.keys = [key](auto& keys) { keys.set_f32(key, NAN); }})
            .string();
    };
    expect_error({"run", "-m", recommending("general.sampling.temp"), "-p", "abc", "-n", "2"},
                 "sampling: the temperature is nan, expected a number");
    expect_error({"run", "-m", recommending("general.sampling.min_p"), "-p", "abc", "-n", "2"},
                 "sampling: min-p is nan, expected a number");
    // The model may have fewer tokens than its tokenizer, or more.
    auto biased = [](const std::string& model, const char* bias) {
        return Words{"run", "-m", model, "-dev", "reference", "-p", "abc", "-n", "2", "-l", bias};
    };
    const std::string few = changed_tiny_model("few.gguf", {.tokens = 270}).string();
    expect_error(biased(few, "270+1"), "-l 270+1: the model has tokens 0 to 269");
    const std::string many = changed_tiny_model("many.gguf", {.tokens = 300}).string();
    EXPECT_EQ(tandem(biased(many, "299-inf")).code, 0);
    expect_error(biased(many, "300-inf"), "-l 300-inf: the model has tokens 0 to 299");
    expect_error(run({"--dry-multiplier", "much"}),
                 "--dry-multiplier takes a number, not \"much\"");
    expect_error(run({"--dry-base", "0.5"}), "--dry-base takes a number, 1 or more, not \"0.5\"");
    expect_error(run({"--dry-allowed-length", "-1"}),
                 "--dry-allowed-length takes a whole number, 0 or more, not \"-1\"");
    expect_error(run({"--dry-penalty-last-n", "-2"}),
                 "--dry-penalty-last-n takes a whole number, -1 or more, not \"-2\"");
    expect_error(run({"--dry-sequence-breaker", ".", "--dry-sequence-breaker", ""}),
                 "--dry-sequence-breaker takes a text, not an empty one; none is for no such text");
    expect_error(run({"--adaptive-target", "1.5"}),
                 "--adaptive-target takes a number, 1 or less, not \"1.5\"");
    for (const std::string wrong : {"-0.1", "1"})
        expect_error(run({"--adaptive-decay", wrong}),
                     "--adaptive-decay takes a number from 0 to 0.99, not \"" + wrong + "\"");
    for (const std::string wrong : {"3", "-1", "v2"})
        expect_error(run({"--mirostat", wrong}),
                     "--mirostat takes a whole number from 0 to 2, not \"" + wrong + "\"");
    expect_error(run({"--mirostat", "2", "--mirostat-ent", "-1"}),
                 "--mirostat-ent takes a number, 0 or more, not \"-1\"");
    expect_error(run({"--mirostat-lr", "-0.1"}),
                 "--mirostat-lr takes a number, 0 or more, not \"-0.1\"");
}

TEST(errors, grammars) {
    expect_error(run({"--grammar", "root ::= \"a"}),
                 "--grammar: line 1, column 10: the text that begins here has no closing \"");
    expect_error(run({"--grammar", ""}),
                 "--grammar: there is no rule \"root\", which stands for the whole text");
    const std::string file = write_file("wrong.gbnf", "root ::= (\n\"a\"\n").string();
    expect_error(run({"--grammar-file", file}),
                 file + ": line 1, column 10: the group that begins here has no closing )");
    expect_error(run({"--grammar-file", "/no/grammar.gbnf"}),
                 "cannot read the grammar from /no/grammar.gbnf: No such file or directory");
    expect_error(run({"-j", "{"}), "--json-schema: the JSON schema is no JSON from byte 2 on");
    expect_error(run({"-j", R"({"not": {}})"}),
                 "--json-schema: JSON schema at \"#\": the keyword \"not\" is not supported");
    const std::string schema = write_file("wrong.json", "{\"type\": \"text\"}").string();
    expect_error(run({"-jf", schema}),
                 schema +
                     ": JSON schema at \"#\": type \"\\\"text\\\"\" is none of object, array, "
                     "string, number, integer, boolean, null");
    expect_error(run({"-jf", "/dev/zero"}),
                 "cannot read the JSON schema from /dev/zero: it has more than 16 MiB");
    expect_error(run({"-j", "{}", "--grammar", "root ::= \"a\""}),
                 "more than one grammar given: choose one of --grammar, --grammar-file, -j and "
                 "-jf");
}

TEST(errors, logits) {
    auto logits = [](const Words& more) {
        Words words{"logits", "-m", tiny_model().string()};
        words.insert(words.end(), more.begin(), more.end());
        return words;
    };
    expect_error(logits({}), "no tokens given: list them with --tokens 1,17,42");
    expect_error(logits({"--tokens", "1"}), "no file given for the logits: name one with -o");
    expect_error(logits({"--tokens", "1,a", "-o", "/dev/null"}),
                 "a token of --tokens takes a whole number, 0 or more, not \"a\"");
    for (std::string spaced : {"1 2 3", "1]2", "[1", "1,[2]"})
        expect_error(logits({"--tokens", spaced, "-o", "/dev/null"}),
                     "a token of --tokens takes a whole number, 0 or more, not \"" +
                         spaced.substr(spaced.find(',') + 1) + "\"");
    expect_error(logits({"--tokens", "1,286", "-o", "/dev/null"}),
                 "token 286 does not exist: the model has tokens 0 to 285");
    expect_error(logits({"--tokens", "1", "-o", "/no/folder"}),
                 "cannot write the logits to /no/folder: No such file or directory");
    expect_error(logits({"--tokens", "1,2", "-c", "1", "-o", "/dev/null"}),
                 "the context of 1 token holds 0 and has no room for 2 more; a longer one (-c) "
                 "would");
    expect_error(logits({"--tokens", "1,2,3", "-c", "2", "-o", "/dev/null"}),
                 "the context of 2 tokens holds 0 and has no room for 3 more; a longer one (-c) "
                 "would");
    expect_error(logits({"--tokens", "1,2", "--greedy", "4", "-c", "4", "-o", "/dev/null"}),
                 "the context of 4 tokens has no room for 2 and 4 that --greedy generates; a "
                 "longer one (-c) would");
    Words fits = logits({"--tokens", "1,2", "--greedy", "3", "-c", "4", "-o", "/dev/null"});
    EXPECT_EQ(tandem(fits).code, 0);
}

TEST(help, is_on_standard_output) {
    Result overview = tandem({"--help"});
    EXPECT_EQ(overview.code, 0);
    EXPECT_EQ(overview.error, "");
    for (const char* command : {"run", "logits", "inspect", "tokenize", "bench", "perplexity",
                                "plan", "devices", "synth"}) {
        EXPECT_NE(overview.out.find("\n  " + std::string(command) + " "), std::string::npos);
        Result help = tandem({command, "--help"});
        EXPECT_EQ(help.code, 0);
        EXPECT_EQ(help.error, "");
        EXPECT_TRUE(help.out.starts_with("tandem " + std::string(command) + ": ")) << help.out;
        EXPECT_EQ(tandem({"help", command}).out, help.out);
        EXPECT_EQ(tandem({"--help", command}).out, help.out);
    }
    // An option that means something else to a command than to most is listed once.
    const std::string bench = tandem({"bench", "--usage"}).out;
    for (const char* name : {" --no-host,", " --mmap,", " --warmup"})
        EXPECT_EQ(bench.find(name), bench.rfind(name)) << name;
    EXPECT_EQ(tandem({"--version"}).out.substr(0, 7), "tandem ");
}

TEST(help, says_what_devices_are_called) {
    for (const char* command : {"run", "logits", "bench", "perplexity", "plan", "devices"}) {
        const std::string help = tandem({command, "--help"}).out;
        const size_t at = help.find("\nnames of devices, of which tandem devices lists ");
        ASSERT_NE(at, std::string::npos) << command;
        for (const char* name : {"cpu", "cpu:0-7", "cpu:node1", "vulkan0", "reference"})
            EXPECT_NE(help.find("\n  " + std::string(name), at), std::string::npos) << name;
    }
    EXPECT_EQ(tandem({"inspect", "--help"}).out.find("names of devices"), std::string::npos);
}

TEST(help, names_the_environment_variables_that_a_command_reads) {
    for (const char* command : {"run", "logits", "bench", "perplexity", "plan", "devices"}) {
        const std::string help = tandem({command, "--help"}).out;
        const size_t at = help.find("\nenvironment:\n");
        ASSERT_NE(at, std::string::npos) << command;
        EXPECT_EQ(help.find("\nenvironment:\n", at + 1), std::string::npos) << command;
        for (const char* name : {"TANDEM_CPU", "TANDEM_VULKAN_PRODUCTS", "XDG_CACHE_HOME, HOME"})
            EXPECT_NE(help.find("\n  " + std::string(name) + " ", at), std::string::npos) << name;
        for (const std::string& variant : cli::split(kernels::cpu::supported_variants(), ", "))
            EXPECT_NE(help.find(variant, at), std::string::npos) << variant;
    }
    EXPECT_NE(tandem({"bench", "--help"}).out.find("\n  TMPDIR "), std::string::npos);
    EXPECT_EQ(tandem({"inspect", "--help"}).out.find("environment"), std::string::npos);
}

}  // namespace tandem::test
