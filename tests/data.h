// Where the tests' data lies: the copies in tests/data, and the optional full set beside the tree.
#pragma once

#include <cctype>
#include <filesystem>
#include <string>

namespace tandem::test {

inline std::filesystem::path data(const std::filesystem::path& name) {
    return std::filesystem::path(TANDEM_TEST_DATA) / name;
}

// A file of the full data set. Tests that need one say so with GTEST_SKIP where it is absent.
inline std::filesystem::path shared(const std::filesystem::path& name) {
    return std::filesystem::path(TANDEM_SHARED) / name;
}

// What a test with data of that name may be called: letters, digits and _.
inline std::string name_of(std::string data) {
    for (char& c : data)
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    return data;
}

}  // namespace tandem::test
