// Runs the tests, or with --update takes the present plans over as the golden ones.
#include <gtest/gtest.h>

#include <string_view>

#include "golden.h"

int main(int argc, char** argv) {
    ::testing::InitGoogleTest(&argc, argv);
    if (argc > 1 && std::string_view(argv[1]) == "--update") {
        tandem::test::update_golden_plans();
        return 0;
    }
    return RUN_ALL_TESTS();
}
