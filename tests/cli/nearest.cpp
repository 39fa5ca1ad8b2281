// What a misspelt word was meant to be.
#include "cli/nearest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tandem::test {

using cli::nearest;

namespace {
const std::vector<std::string> names = {"-m",     "-ngl",         "--temp", "--temperature",
                                        "--seed", "--batch-size", "bench"};
}

TEST(nearest, finds_what_a_few_slips_have_made_of_a_name) {
    for (const char* word : {"--temprature", "--temperatuer", "--tempperature", "--tenperature"})
        EXPECT_EQ(nearest(word, names), "--temperature") << word;
    EXPECT_EQ(nearest("--batchsize", names), "--batch-size");
    EXPECT_EQ(nearest("benhc", names), "bench");
    EXPECT_EQ(nearest("-ngk", names), "-ngl");
}

TEST(nearest, does_not_count_dashes_in_front) {
    EXPECT_EQ(nearest("-seed", names), "--seed");
    EXPECT_EQ(nearest("seed", names), "--seed");
    EXPECT_EQ(nearest("--bench", names), "bench");
}

TEST(nearest, has_nothing_for_words_that_are_far_or_short) {
    for (const char* word : {"", "-", "--", "-n", "-mm", "--bogus", "--speed-of-light", "--sfed2"})
        EXPECT_EQ(nearest(word, names), "") << word;
    EXPECT_EQ(nearest(std::string(1'000'000, 'x'), names), "");
    EXPECT_EQ(nearest("--seed", {}), "");
}

TEST(nearest, prefers_fewer_slips_and_then_the_first) {
    const std::vector<std::string> alike = {"--mode", "--node", "--made"};
    EXPECT_EQ(nearest("--node", alike), "--node");
    EXPECT_EQ(nearest("--bode", alike), "--mode");
}

}  // namespace tandem::test
