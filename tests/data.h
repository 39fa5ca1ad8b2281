// Where the tests' data lies: the copies in tests/data, and the optional full set beside the tree.
#pragma once

#include <filesystem>

namespace tandem::test {

inline std::filesystem::path data(const std::filesystem::path& name) {
    return std::filesystem::path(TANDEM_TEST_DATA) / name;
}

// A file of the full data set. Tests that need one say so with GTEST_SKIP where it is absent.
inline std::filesystem::path shared(const std::filesystem::path& name) {
    return std::filesystem::path(TANDEM_SHARED) / name;
}

}  // namespace tandem::test
