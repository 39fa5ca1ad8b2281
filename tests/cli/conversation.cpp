// Conversations by `tandem run`, of a model with a chat template that writes nonsense.
#include <gtest/gtest.h>

#include <regex>

#include "cli/process.h"
#include "cli/tiny_model.h"
#include "data.h"

namespace tandem::test {

namespace {

using Words = std::vector<std::string>;

// Every message in brackets, thoughts in front, and a question mark where the answer is to come.
const std::string brackets =
    "{{ bos_token }}{% for m in messages %}[{{ m.role[0] }}{{ m.content }}]{% endfor %}?";

const std::filesystem::path& chatty_model() {
    static const std::filesystem::path path =
        changed_tiny_model("chatty.gguf", {.keys = [](gguf::Metadata& metadata) {
                               metadata.set_string("tokenizer.chat_template", brackets);
                           }});
    return path;
}

Result chat(const Words& more, const std::string& input = {}) {
    Words words{"run",    "-m", chatty_model().string(), "-dev", "reference", "-n", "3",
                "--temp", "0",  "--ignore-eos"};
    words.insert(words.end(), more.begin(), more.end());
    return tandem(words, input);
}

// The tokens of the prompt as text.
std::string prompt_of(const Result& result) {
    std::string text;
    const std::regex line("\n *\\d+ -> '([^']*)'");
    for (std::sregex_iterator each(result.error.begin(), result.error.end(), line), end;
         each != end; ++each)
        text += (*each)[1];
    return text;
}

int evaluated(const Result& result) {
    std::smatch found;
    EXPECT_TRUE(std::regex_search(result.error, found, std::regex("\nprompt: (\\d+) token")))
        << result.error;
    return found.empty() ? -1 : std::stoi(found[1]);
}

int generated(const Result& result) {
    std::smatch found;
    EXPECT_TRUE(std::regex_search(result.error, found, std::regex("generated: (\\d+) token")))
        << result.error;
    return found.empty() ? -1 : std::stoi(found[1]);
}

}  // namespace

TEST(conversation, is_what_a_model_with_a_template_has) {
    const Result result = chat({"-p", "ab", "--verbose-prompt"});
    EXPECT_EQ(result.code, 0) << result.error;
    EXPECT_EQ(prompt_of(result), "<s> [uab]?");
    EXPECT_NE(result.error.find("note: this is a conversation by a chat template"),
              std::string::npos);
    EXPECT_EQ(result.out.find("ab"), std::string::npos) << "the message is not echoed";
    EXPECT_EQ(generated(result), 3);
    // Standard input as a message, whole.
    EXPECT_EQ(prompt_of(chat({"--verbose-prompt"}, "ab\ncd\n")), "<s> [uab\ncd]?");
}

TEST(conversation, is_none_where_it_is_not_wanted) {
    const Result result = chat({"-p", "ab", "-no-cnv", "--verbose-prompt"});
    EXPECT_EQ(prompt_of(result), "<s> ab");
    EXPECT_TRUE(result.out.starts_with("ab")) << result.out;
    EXPECT_EQ(result.error.find("conversation"), std::string::npos) << result.error;
}

TEST(conversation, begins_with_the_system_and_by_the_template_of_options) {
    EXPECT_EQ(prompt_of(chat({"-p", "ab", "-sys", "x\\ty", "--verbose-prompt"})),
              "<s> [sx\ty][uab]?");
    const std::string file = write_file("system.txt", "file\n").string();
    EXPECT_EQ(prompt_of(chat({"-p", "ab", "-sysf", file, "--verbose-prompt"})),
              "<s> [sfile][uab]?");
    const std::string other = "<{{ messages[0].content }} {{ who }} {{ enable_thinking }}>";
    EXPECT_EQ(prompt_of(chat({"-p", "ab", "--chat-template", other, "--chat-template-kwargs",
                              "{\"who\": \"me\"}", "-rea", "off", "--verbose-prompt"})),
              "<s> <ab me False>");
    const std::string source = write_file("other.jinja", other).string();
    EXPECT_EQ(prompt_of(chat({"-p", "ab", "--chat-template-file", source, "--verbose-prompt"})),
              "<s> <ab  True>");
    EXPECT_EQ(prompt_of(chat({"-p", "ab", "--chat-template", "falcon3", "--verbose-prompt"}))
                  .find("<s> <|user|>"),
              0u);
}

TEST(conversation, goes_on_line_by_line_and_evaluates_what_is_new) {
    const Result one = chat({"-cnv"}, "ab\n"), two = chat({"-cnv"}, "ab\ncd\n");
    EXPECT_EQ(two.code, 0) << two.error;
    EXPECT_EQ(generated(one), 3);
    EXPECT_EQ(generated(two), 6);
    EXPECT_TRUE(two.out.starts_with(one.out)) << two.out;
    EXPECT_EQ(evaluated(one), 8);
    // What the model has of the beginning, "<s> [uab]", is not evaluated again.
    EXPECT_EQ(evaluated(two), 8 + 6 + 6);
    // -p is the first message, -st ends behind its answer.
    EXPECT_EQ(chat({"-cnv", "-p", "ab"}, "cd\n").out, two.out);
    EXPECT_EQ(chat({"-cnv", "-st", "-p", "ab"}, "cd\n").out, one.out);
    // The same answer again, and a new beginning.
    EXPECT_EQ(chat({"-cnv"}, "ab\n/regen\n").out, one.out + one.out);
    EXPECT_EQ(chat({"-cnv"}, "ab\ncd\n/clear\nab\n").out, two.out + one.out);
    EXPECT_EQ(chat({"-cnv"}, "ab\n/exit\ncd\n").out, one.out);
    // Penalties forget what was taken back.
    const Words penal{"-cnv", "--repeat-penalty", "1.5", "-n", "9"};
    const std::string first = chat(penal, "ab\n").out;
    EXPECT_EQ(chat(penal, "ab\n/regen\n/clear\nab\n").out, first + first + first);
    EXPECT_EQ(chat({"-cnv"}, "\n\nab\r\n\n").out, one.out);
    EXPECT_EQ(chat({"-cnv"}, "a\\\nb\n").out, chat({"-cnv"}, "a\\nb\n").out);
}

TEST(conversation, ends_where_the_context_is_full) {
    const Result result = chat({"-cnv", "-c", "20"}, "ab\ncd\nef\n");
    EXPECT_EQ(result.code, 0) << result.error;
    EXPECT_NE(result.error.find("the context is full"), std::string::npos) << result.error;
    // Or goes on without the oldest messages.
    const Result shifted = chat({"-cnv", "-c", "20", "--context-shift"}, "ab\ncd\nef\n");
    EXPECT_EQ(shifted.code, 0) << shifted.error;
    EXPECT_EQ(generated(shifted), 9);
    EXPECT_NE(shifted.error.find("note: the context is full: the oldest messages are left out"),
              std::string::npos)
        << shifted.error;
    EXPECT_TRUE(shifted.out.ends_with(chat({"-p", "ef"}).out)) << shifted.out;
}

TEST(conversation, says_what_is_wrong) {
    const auto error = [](const Words& words, const std::string& input = {}) {
        const Result result = chat(words, input);
        EXPECT_EQ(result.code, 1);
        const size_t at = result.error.rfind("error: ");
        return at == std::string::npos ? result.error : result.error.substr(at);
    };
    EXPECT_EQ(error({"-cnv", "-c", "20"}, std::string(30, 'a') + "\n")
                  .find("error: prompt is too long (36 tokens, max 16)"),
              0u);
    EXPECT_EQ(error({}), "error: there is no message to answer: -p gives one\n");
    EXPECT_EQ(error({"-p", "a", "--chat-template", "chatnl"})
                  .find("error: no chat template is called chatnl; there are chatml, "),
              0u);
    EXPECT_EQ(error({"-p", "a", "--chat-template", "{{ x"})
                  .find("error: the chat template cannot be read: line 1: "),
              0u);
    EXPECT_EQ(error({"-p", "a", "--chat-template", "{{ raise_exception('not today') }}"}),
              "error: the chat template refuses this conversation: not today\n");
    EXPECT_EQ(error({"-p", "a", "-no-cnv", "-sys", "x"}),
              "error: option --system-prompt is about a conversation (-cnv), and this run is about "
              "a text\n");
    EXPECT_EQ(error({"-p", "a", "-sys", "x", "-sysf", "y"}),
              "error: two system messages given: choose one of -sys and -sysf\n");
    EXPECT_EQ(error({"-p", "a", "--chat-template-kwargs", "[1]"}),
              "error: option --chat-template-kwargs takes an object in JSON, not \"[1]\"\n");
    EXPECT_EQ(error({"-p", "a", "--reasoning-format", "x"}),
              "error: option --reasoning-format takes none or auto, not \"x\"\n");
}

TEST(conversation, begins_with_what_a_file_has_of_it) {
    const std::string path = (own_folder() / "conversation.state").string();
    std::filesystem::remove(path);
    const Result first = chat({"-cnv", "--prompt-cache", path, "-sys", "longer"}, "ab\n");
    EXPECT_EQ(first.code, 0) << first.error;
    const Result again =
        chat({"-cnv", "--prompt-cache", path, "--prompt-cache-ro", "-sys", "longer"}, "ac\n");
    EXPECT_EQ(again.code, 0) << again.error;
    EXPECT_LT(evaluated(again), evaluated(first) / 2) << again.error;
    // Later messages leave the file as it is.
    const std::string bytes = read_file(path);
    chat({"-cnv", "--prompt-cache", path, "-sys", "longer"}, "ab\ncd\n");
    EXPECT_TRUE(read_file(path) == bytes);
    // Only a first message, and no answer to it.
    const Result none = chat({"-cnv", "--prompt-cache", path, "-n", "0"}, "ab\ncd\n");
    EXPECT_EQ(none.code, 0) << none.error;
    EXPECT_EQ(none.out, "");
}

// Recurrent states and windows do not keep what they have moved on from. All answers look alike to
// this template, so that a prompt parts from what was generated.
TEST(conversation, goes_back_where_states_cannot) {
    const std::string forgetful =
        "{% for m in messages %}[{% if m.role == 'assistant' %}again{% else %}{{ m.content }}"
        "{% endif %}]{% endfor %}{% if messages|length > 1 %}?{% endif %}!";
    const std::string first(60, 'a');
    for (const char* name : {"qwen35-lin128", "gemma3", "kimi-linear"}) {
        const std::string model = test::data("fixtures/" + std::string(name) + ".gguf").string();
        const auto answer = [&](const std::string& chat_template, const Words& more,
                                const std::string& input) {
            Words words{"run", "-m",     model, "-dev",         "reference",       "-n",
                        "40",  "--temp", "0",   "--ignore-eos", "--chat-template", chat_template};
            words.insert(words.end(), more.begin(), more.end());
            const Result result = tandem(words, input);
            EXPECT_EQ(result.code, 0) << result.error;
            return result;
        };
        const Result one = answer(forgetful, {"-cnv"}, first + "\n");
        const Result two = answer(forgetful, {"-cnv"}, first + "\ncd\n");
        EXPECT_LT(evaluated(two), evaluated(one) + 20) << name;
        EXPECT_EQ(two.out,
                  one.out + answer("{# #}[" + first + "][again][cd]?!", {"-p", "x"}, {}).out)
            << name;
        // And back to the same place once more.
        EXPECT_EQ(answer(forgetful, {"-cnv"}, first + "\n/regen\n").out, one.out + one.out) << name;
        EXPECT_EQ(answer(forgetful, {"-cnv"}, first + "\n/regen\ncd\n").out, one.out + two.out)
            << name;
    }
}

TEST(conversation, keeps_thoughts_apart) {
    // What the prompt ends with begins a thought, which this model never ends.
    const std::string thinking = "{{ messages[0].content }}<think>{# </think> #}";
    const Result apart = chat({"-p", "a", "--chat-template", thinking});
    EXPECT_TRUE(apart.out.starts_with("[Start thinking]\n")) << apart.out;
    EXPECT_TRUE(apart.out.ends_with("\n[End thinking]\n")) << apart.out;
    const Result raw = chat({"-p", "a", "--chat-template", thinking, "--reasoning-format", "none"});
    EXPECT_EQ(raw.out.find("thinking"), std::string::npos) << raw.out;
}

TEST(conversation, ends_thoughts_that_are_long_enough) {
    const auto answer = [](const std::string& budget, const Words& more = {}) {
        Words words{"-p",
                    "a",
                    "--chat-template",
                    "{{ messages[0].content }}<think>{# </think> #}",
                    "--reasoning-budget",
                    budget,
                    "-n",
                    "40"};
        words.insert(words.end(), more.begin(), more.end());
        return chat(words);
    };
    const std::string endless = answer("-1").out, start = "[Start thinking]\n";
    ASSERT_TRUE(endless.starts_with(start));
    const std::string end = "\n[End thinking]\n\n";
    EXPECT_EQ(endless.find(end), std::string::npos);
    const Result cut = answer("5", {"--reasoning-budget-message", "\\nwell."});
    EXPECT_EQ(cut.code, 0) << cut.error;
    const std::string last = " \nwell." + end;  // this tokenizer begins texts with a space
    const size_t at = cut.out.find(last);
    ASSERT_NE(at, std::string::npos) << cut.out;
    EXPECT_EQ(cut.out.substr(0, at), endless.substr(0, at)) << "what it thought before";
    EXPECT_GT(cut.out.size(), at + last.size() + 5) << "an answer";
    EXPECT_EQ(generated(cut), 40);
    // Not at all.
    EXPECT_EQ(answer("0").out.find("thinking"), std::string::npos);
    // A thought that the model begins itself, which this one does not.
    const Result none = chat({"-p", "a", "--reasoning-budget", "0"});
    EXPECT_NE(
        none.error.find("note: the template has no thoughts: --reasoning-budget has no effect"),
        std::string::npos)
        << none.error;
    EXPECT_EQ(none.out, chat({"-p", "a"}).out);
}

TEST(conversation, binds_each_answer_to_the_grammar) {
    const Result result =
        chat({"-cnv", "-n", "20", "--grammar", "root ::= \"x\" [yz]{2}"}, "ab\ncd\n");
    EXPECT_EQ(result.code, 0) << result.error;
    EXPECT_TRUE(std::regex_match(result.out, std::regex("x[yz]{2}\nx[yz]{2}\n"))) << result.out;
    // Not a thought, which this model never ends.
    const std::string thinking = "{{ messages[0].content }}<think>{# </think> #}";
    const Words bound{"-p", "a", "--chat-template", thinking, "--grammar", "root ::= \"xyz\""};
    const Result thought = chat(bound);
    EXPECT_TRUE(thought.out.starts_with("[Start thinking]\n")) << thought.out;
    EXPECT_NE(thought.error.find("the text ends before its grammar does"), std::string::npos);
    Words raw = bound;
    raw.insert(raw.end(), {"--reasoning-format", "none", "-n", "20"});
    EXPECT_EQ(chat(raw).out, "xyz\n");
}

TEST(conversation, ctrl_c_ends_the_answer_and_then_the_conversation) {
    Process process({"run", "-m", chatty_model().string(), "-dev", "reference", "-n", "-1", "-c",
                     "100000", "--ignore-eos", "-cnv"},
                    "ab\ncd\n");
    ASSERT_TRUE(process.has_written(20));
    process.interrupt();
    ASSERT_TRUE(process.has_written(200));
    process.interrupt();
    const Result result = process.finish();
    EXPECT_EQ(result.code, 0) << result.error;  // there was nothing more to answer
    EXPECT_EQ(result.error.find("\ninterrupted"), std::string::npos) << result.error;
}

}  // namespace tandem::test
