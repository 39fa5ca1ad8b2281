#include "cli/progress.h"

#include <gtest/gtest.h>

namespace tandem::test {

TEST(progress, fits_into_the_terminal) {
    constexpr int64_t gibibyte = 1 << 30;
    auto line = [](size_t columns) {
        return cli::progress_line("loading model.gguf", gibibyte / 2, gibibyte, columns);
    };
    EXPECT_EQ(line(80), "loading model.gguf [###############               ] 50 % of 1 GiB");
    EXPECT_EQ(line(66), line(80));
    EXPECT_EQ(line(65), "loading model.gguf 50 % of 1 GiB");
    EXPECT_EQ(line(33), line(65));
    EXPECT_EQ(line(32), "50 % of 1 GiB");
    EXPECT_EQ(cli::progress_line("reading the prompt", 512, 2048, 80, cli::Unit::Tokens),
              "reading the prompt [#######                       ] 25 % of 2048 tokens");
}

}  // namespace tandem::test
