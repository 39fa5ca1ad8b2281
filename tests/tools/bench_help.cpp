// The help of `tandem bench` explains what it prints.
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/bench/formats.h"
#include "cli/bench/glossaries.h"
#include "cli/bench/profile.h"

namespace tandem::cli {
namespace {

// By itself or with others, "ms, share".
bool explains(const Glossary& glossary, const std::string& name) {
    return std::any_of(glossary.terms.begin(), glossary.terms.end(), [&](const Term& term) {
        for (const std::string& known : split(term.name))
            if (trimmed(known) == name) return true;
        return false;
    });
}

// Those that are not llama-bench's stand behind its last one.
TEST(BenchHelp, explains_columns) {
    const std::string head = find_format("md").head({});
    const size_t first = head.find("t/s |") + 5;
    std::string explained;
    for (const std::string& cell : split(head.substr(first, head.find('\n') - first), "|")) {
        const std::string name(trimmed(cell));
        if (name.empty()) continue;
        explained += name + " ";
        EXPECT_TRUE(explains(bench_columns, name)) << name;
    }
    EXPECT_EQ(explained, "limit read multiply ");
}

// Columns, and the rows that are no operations.
TEST(BenchHelp, explains_profiles) {
    const Profile profile{.exchanges = 1, .exchanging = 0.5, .seconds = 1};
    const std::string text = to_string(profile, {}, {});
    const std::vector<std::string> lines = split(text.substr(text.find("| operation")), "\n");
    std::vector<std::string> names = split(lines[0], "|");
    for (size_t i = 2; i < lines.size(); ++i)
        if (!lines[i].empty()) names.push_back(split(lines[i], "|")[1]);
    EXPECT_EQ(names.size(), 2u + 9 + 4);
    for (const std::string& cell : names)
        if (const std::string name(trimmed(cell)); !name.empty()) {
            EXPECT_TRUE(explains(profile_columns, name)) << name;
        }
}

}  // namespace
}  // namespace tandem::cli
