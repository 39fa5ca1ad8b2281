// Renderings by Jinja2: single features, and the templates of models over whole conversations.
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <string>

#include <gtest/gtest.h>

#include "data.h"
#include "gguf/error.h"
#include "rendered.h"

using namespace tandem;

namespace {

// Python prints where some objects lie.
std::string without_addresses(const std::string& text) {
    return std::regex_replace(text, std::regex("at 0x[0-9a-f]+"), "at 0x0");
}

std::string read(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// How many records of a file are as it says.
template <class Source>
size_t compare_records(const std::filesystem::path& path, const Source& source) {
    std::ifstream file(path);
    size_t count = 0;
    for (std::string line; std::getline(file, line); ++count) {
        const auto record = nlohmann::ordered_json::parse(line);
        const std::string name = record["template"].get<std::string>();
        SCOPED_TRACE(name + " " + record.value("case", ""));
        const auto render = [&] { return test::rendered(source(name), record["context"]).bytes(); };
        if (record.contains("error"))
            EXPECT_THROW(render(), Error);
        else
            EXPECT_NO_THROW(EXPECT_EQ(without_addresses(render()),
                                      without_addresses(record["output"].get<std::string>())));
    }
    return count;
}

}  // namespace

TEST(Jinja, renders_single_features_as_jinja2_does) {
    const auto path = test::data("chat/jinja-micro.jsonl");
    EXPECT_EQ(compare_records(path, [](const std::string& source) { return source; }), 142u);
}

TEST(Jinja, renders_templates_of_models_as_jinja2_does) {
    const auto folder = test::shared("templates");
    if (!std::filesystem::exists(folder / "golden.jsonl"))
        GTEST_SKIP() << "no " << folder << ": set -DTANDEM_SHARED to the full data set";
    const auto source = [&](const std::string& name) { return read(folder / name); };
    EXPECT_EQ(compare_records(folder / "golden.jsonl", source), 418u);
}
