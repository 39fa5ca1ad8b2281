// Texts that `tandem run` binds to a grammar.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "cli/process.h"
#include "cli/tiny_model.h"
#include "data.h"

namespace tandem::test {

namespace {

using Words = std::vector<std::string>;

Result run(const std::filesystem::path& model, const Words& more) {
    Words words{"run",       "-m", model.string(), "-dev",
                "reference", "-p", "abc",          "--no-display-prompt"};
    words.insert(words.end(), more.begin(), more.end());
    return tandem(words);
}

Result tiny(const Words& more) { return run(tiny_model(), more); }

constexpr const char* schema = R"({"type": "object", "properties": {
    "name": {"type": "string", "maxLength": 8}, "age": {"type": "integer", "minimum": 3, "maximum": 99},
    "tags": {"type": "array", "items": {"enum": ["a", "b", null]}, "maxItems": 3},
    "more": {"$ref": "#/$defs/pair"}}, "required": ["name", "age", "more"],
    "$defs": {"pair": {"prefixItems": [{"type": "boolean"}, {"format": "date"}]}}})";

}  // namespace

TEST(grammar, binds_a_text_and_ends_it) {
    for (const char* seed : {"1", "2", "3"})
        for (const char* temperature : {"0", "1.5"}) {
            const Result result = tiny({"-s", seed, "--temp", temperature, "--grammar",
                                        "root ::= [A-Z]{3} \"-\" [0-9]+ \".\" | \"\xc3\xa9\""});
            EXPECT_EQ(result.code, 0) << result.error;
            const bool whole =
                std::regex_match(result.out, std::regex("([A-Z]{3}-[0-9]+\\.|\xc3\xa9)\n"));
            // The context may be full before.
            const bool cut =
                result.error.find("\nthe text ends before its grammar does\n") != std::string::npos;
            EXPECT_NE(whole, cut) << result.out << result.error;
        }
    const std::string file =
        write_file("a.gbnf", "# three\nroot ::= x x x\nx ::= \"Q\"\n").string();
    EXPECT_EQ(tiny({"--grammar-file", file}).out, "QQQ\n");
    EXPECT_EQ(tiny({"--grammar-file", file, "--ignore-eos"}).out, "QQQ\n");
    EXPECT_EQ(tiny({"--grammar", "root ::= \"\""}).out, "") << "only an end can come";
    // Nothing is changed where the model keeps to the grammar by itself.
    EXPECT_EQ(tiny({"-n", "20", "--temp", "0", "--grammar", "root ::= .*"}).code, 0);
}

TEST(grammar, of_a_schema_makes_texts_of_json) {
    const std::string file = write_file("schema.json", schema).string();
    for (const char* seed : {"1", "2", "3", "4"})
        for (const bool is_file : {false, true}) {
            const Result result = run(data("stories/stories.gguf"),
                                      {"-s", seed, "--temp", "1.2", "-c", "2048",
                                       is_file ? "-jf" : "-j", is_file ? file : schema});
            ASSERT_EQ(result.code, 0) << result.error;
            const auto value = nlohmann::json::parse(result.out, nullptr, false);
            ASSERT_TRUE(value.is_object()) << result.out << result.error;
            EXPECT_TRUE(value.at("name").is_string()) << result.out;
            EXPECT_TRUE(value.at("age") >= 3 && value.at("age") <= 99) << result.out;
            EXPECT_EQ(value.at("more").size(), 2u) << result.out;
            EXPECT_TRUE(value.at("more")[0].is_boolean()) << result.out;
            EXPECT_LE(value.value("tags", nlohmann::json::array()).size(), 3u) << result.out;
        }
}

TEST(grammar, says_where_biases_leave_no_token_of_it) {
    const Result result = tiny({"--grammar", "root ::= \"q\"", "-l", "276-inf,116-inf"});
    EXPECT_EQ(result.code, 1);
    EXPECT_NE(result.error.find("error: no token is left to choose: "), std::string::npos)
        << result.error;
}

}  // namespace tandem::test
