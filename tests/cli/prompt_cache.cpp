// `tandem run --prompt-cache`: what a model knows of a text goes from one run to the next.
#include <gtest/gtest.h>

#include <regex>
#include <thread>

#include "cli/process.h"
#include "cli/tiny_model.h"
#include "data.h"

namespace tandem::test {

namespace {

using Words = std::vector<std::string>;

Words with(Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

// A cache that is not there yet.
std::string new_cache() {
    const std::filesystem::path path = own_folder() / "cache";
    std::filesystem::remove(path);
    return path.string();
}

Words tiny(const std::string& cache, const Words& more) {
    return with({"run", "-m", tiny_model().string(), "-dev", "reference", "--temp", "0",
                 "--prompt-cache", cache},
                more);
}

// A run that ends well, says that it evaluated so many tokens of the prompt, and notes something.
std::string text_of(const Words& words, int evaluated, const std::string& note) {
    const Result result = tandem(words);
    EXPECT_EQ(result.code, 0) << result.error;
    const std::string count =
        "prompt: " + std::to_string(evaluated) + (evaluated == 1 ? " token" : " tokens");
    EXPECT_TRUE(std::regex_search(result.error, std::regex(count + "[,;]"))) << result.error;
    EXPECT_NE(result.error.find("note: " + note), std::string::npos) << result.error;
    return result.out;
}

void expect_error(const Words& words, const std::string& line) {
    const Result result = tandem(words);
    EXPECT_EQ(result.code, 1) << result.error;
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(result.error.ends_with("error: " + line + "\n")) << result.error;
}

// BOS and a space stand in front of the letters.
const Words abcdef{"-p", "abcdef", "-n", "12"};

TEST(prompt_cache, spares_all_of_a_prompt_but_the_last_token) {
    const std::string cache = new_cache();
    const std::string first =
        text_of(tiny(cache, abcdef), 8, cache + " is not there yet: it will have this prompt\n");
    const std::string bytes = read_file(cache);
    const std::string has = cache + " has the prompt: only its last token is evaluated\n";
    EXPECT_EQ(text_of(tiny(cache, abcdef), 1, has), first);
    for (const char* mode : {"layer", "tensor"})
        EXPECT_EQ(
            text_of(tiny(cache, with(abcdef, {"-sm", mode, "-dev", "reference,cpu:0,reference",
                                              "-ub", "2", "-c", "60"})),
                    1, has),
            first);
    EXPECT_EQ(read_file(cache), bytes) << "the file had all there was";
    EXPECT_EQ(first,
              tandem(with({"run", "-m", tiny_model().string(), "-dev", "reference", "--temp", "0"},
                          abcdef))
                  .out);
}

TEST(prompt_cache, goes_on_behind_what_was_generated) {
    const std::string cache = new_cache();
    std::string all = tandem(tiny(cache, {"-p", "abc", "-n", "30"})).out;
    new_cache();
    std::string parts =
        text_of(tiny(cache, {"-p", "abc", "-n", "12", "--prompt-cache-all"}), 5, cache);
    const std::string has = cache + " has the prompt: only its last token is evaluated\n";
    for (int i = 0; i < 2; ++i) {
        parts.pop_back();  // the end of the line
        parts += text_of(tiny(cache, {"-n", "9", "--prompt-cache-all"}), 1, has);
    }
    EXPECT_EQ(parts, all);
    // Its beginning is a prompt, too.
    text_of(tiny(cache, {"-p", "abc", "-n", "1", "--prompt-cache-ro"}), 1, has);
}

TEST(prompt_cache, spares_what_prompts_have_in_common) {
    const Words other{"-p", "abcdxyz", "-n", "12"};
    const std::string alone = tandem(tiny(new_cache(), other)).out, cache = new_cache();
    tandem(tiny(cache, abcdef));
    EXPECT_EQ(
        text_of(tiny(cache, other), 3, cache + " has the first 6 of 9 tokens of the prompt\n"),
        alone);
    text_of(tiny(cache, {"-p", "abxyzxyz", "-n", "2"}), 6,
            cache +
                " has the first 4 of 10 tokens of the prompt, so that most of it is "
                "evaluated\n");
    text_of(tiny(cache, {"-p", "abxyzx", "-n", "2"}), 1, cache + " has the prompt");
}

TEST(prompt_cache, has_the_last_prompt_to_its_last_token) {
    const std::string cache = new_cache();
    tandem(tiny(cache, {"-p", "abcdef", "-n", "2"}));
    text_of(tiny(cache, {"-p", "abcdeg", "-n", "2"}), 1,
            cache + " has the first 7 of 8 tokens of the prompt\n");
    const std::string has = cache + " has the prompt: only its last token is evaluated\n";
    text_of(tiny(cache, {"-p", "abcdeg", "-n", "2"}), 1, has);
    // The beginning of what it has is no reason to forget the rest.
    text_of(tiny(cache, {"-p", "abc", "-n", "2"}), 1, has);
    text_of(tiny(cache, {"-p", "abcdeg", "-n", "2"}), 1, has);
    // A prompt of BOS alone.
    const std::string shortest = new_cache();
    text_of(tiny(shortest, {"-p", "", "-n", "2"}), 1, shortest + " is not there yet");
    text_of(tiny(shortest, {"-p", "", "-n", "2"}), 1, has);
}

TEST(prompt_cache, is_left_as_it_is_where_that_is_asked_for) {
    const std::string cache = new_cache();
    const Words other{"-p", "xyz", "-n", "3", "--prompt-cache-ro"};
    text_of(tiny(cache, other), 5, cache + " is not there, and nothing is read\n");
    EXPECT_FALSE(std::filesystem::exists(cache));
    tandem(tiny(cache, abcdef));
    const std::string bytes = read_file(cache);
    text_of(tiny(cache, other), 3, cache + " has the first 2 of 5 tokens");
    EXPECT_EQ(read_file(cache), bytes);
}

TEST(prompt_cache, is_made_without_a_text) {
    const std::string cache = new_cache();
    const std::string none =
        text_of(tiny(cache, {"-p", "abcdef", "-n", "0"}), 7, cache + " is not there yet");
    EXPECT_EQ(none, "");
    text_of(tiny(cache, abcdef), 1, cache + " has the prompt");
    // One that another process was to write.
    write_file("cache", "");
    text_of(tiny(cache, abcdef), 8, cache + " is not there yet");
}

// What windows have left behind and recurrent states have taken in does not come back.
TEST(prompt_cache, is_of_no_use_where_a_model_cannot_return) {
    for (const char* fixture : {"gemma3", "qwen35-lin128"}) {
        const std::string cache = new_cache();
        const std::string model = test::data("fixtures/" + std::string(fixture) + ".gguf").string();
        auto words = [&](const std::string& prompt) {
            return Words{"run", "-m", model, "-dev", "reference", "--prompt-cache", cache, "-n",
                         "1",   "-c", "200", "-p",   prompt};
        };
        const std::string prompt(40, 'a');
        ASSERT_EQ(tandem(words(prompt + "bc")).code, 0);
        const Result again = tandem(words(prompt + "bc")), other = tandem(words(prompt + "xy"));
        EXPECT_NE(again.error.find("prompt: 1 token,"), std::string::npos) << again.error;
        EXPECT_TRUE(std::regex_search(
            other.error, std::regex("note: the prompt begins with \\d+ of \\d+ tokens of .*, and "
                                    "the model cannot return to where they part: the prompt is "
                                    "evaluated from its beginning\n")))
            << other.error;
        EXPECT_EQ(other.code, 0);
    }
}

TEST(prompt_cache, of_another_kind_is_refused) {
    const std::string cache = new_cache();
    tandem(tiny(cache, abcdef));
    const std::string other =
        changed_tiny_model(
            "other.gguf", {.keys = [](auto& keys) { keys.set_f32("llama.rope.freq_base", 20000); }})
            .string();
    expect_error({"run", "-m", other, "-p", "abc", "--prompt-cache", cache},
                 cache +
                     " was written with another model, or with other keys of it: \"tiny\"; name "
                     "another file for this one (--prompt-cache)");
    const std::string scaled = changed_tiny_model("scaled.gguf", {.scale = 2}).string();
    expect_error({"run", "-m", scaled, "-p", "abc", "--prompt-cache", cache},
                 cache +
                     " was written with another model, or with other keys of it: \"tiny\"; name "
                     "another file for this one (--prompt-cache)");
    // Of titles no number depends.
    const std::string renamed =
        changed_tiny_model("renamed.gguf",
                           {.keys = [](auto& keys) { keys.set_string("general.name", "x"); }})
            .string();
    EXPECT_EQ(tandem({"run", "-m", renamed, "-p", "abc", "-n", "1", "--prompt-cache", cache}).code,
              0);
    expect_error(tiny(cache, {"-p", "abc", "-ctv", "f32"}),
                 cache +
                     " has blk.0.v_cache as F16, and this run as F32: choose that type (-ctk, "
                     "-ctv), or name another file (--prompt-cache)");
    const std::string text = write_file("text", "This is a text that someone wrote.").string();
    expect_error(tiny(text, abcdef),
                 text +
                     ": E_MAGIC: the file is none of --prompt-cache; name another one (file "
                     "offset 0x0)");
    EXPECT_EQ(read_file(text), "This is a text that someone wrote.");
    const std::string cut = write_file("cut", read_file(cache).substr(0, 1000)).string();
    EXPECT_NE(tandem(tiny(cut, abcdef)).error.find("error: " + cut + ": E_TRUNCATED: "),
              std::string::npos);
    std::string bytes = read_file(cache);
    bytes[bytes.size() - 100] ^= 1;
    EXPECT_NE(tandem(tiny(write_file("damaged", bytes).string(), abcdef))
                  .error.find("the file is damaged: its checksum is another"),
              std::string::npos);
}

TEST(prompt_cache, options_that_make_no_sense) {
    const std::string cache = new_cache();
    const Words run{"run", "-m", tiny_model().string(), "-p", "abc"};
    for (const char* option : {"--prompt-cache-all", "--prompt-cache-ro"})
        expect_error(with(run, {option}),
                     std::string(option) + " is about a file: --prompt-cache names it");
    expect_error(tiny(cache, {"--prompt-cache-all", "--prompt-cache-ro"}),
                 "--prompt-cache-all writes the file that --prompt-cache-ro leaves as it is");
    expect_error(with(run, {"--prompt-cache", ""}), "--prompt-cache takes the name of a file");
    expect_error(with(run, {"--prompt-cache", "/no/cache"}),
                 "cannot write the prompt cache to /no/cache: No such file or directory");
    EXPECT_FALSE(std::filesystem::exists(cache));
    std::string line = quoted(TANDEM_BINARY);
    for (const std::string& word : tiny(cache, {"-p", "abc"})) line += " " + quoted(word);
    const Result there = shell(line + " > " + quoted(cache));
    EXPECT_EQ(there.code, 1);
    EXPECT_EQ(there.error, "error: " + cache +
                               " is where the text goes to: name another file for the prompt "
                               "cache\n");
}

TEST(prompt_cache, an_interrupt_leaves_what_was_there) {
    const std::string cache = new_cache();
    tandem(tiny(cache, abcdef));
    const std::string bytes = read_file(cache);
    Process process(tiny(
        cache, {"-p", "abcxyz", "-c", "100000", "-n", "-1", "--ignore-eos", "--prompt-cache-all"}));
    ASSERT_TRUE(process.has_written(20));
    const std::string of_prompt = read_file(cache);
    process.interrupt();
    const Result result = process.finish();
    EXPECT_EQ(result.code, 130);
    EXPECT_NE(of_prompt, bytes);
    EXPECT_EQ(read_file(cache), of_prompt);
}

}  // namespace

}  // namespace tandem::test
