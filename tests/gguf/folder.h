// A folder for the files of one test, removed with the object.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include "data.h"

namespace tandem::test {

class Folder {
  public:
    Folder() {
        const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
        std::string name = "tandem_";
        if (test) name += std::string(test->test_suite_name()) + "_" + test->name() + "_";
        // Names of suites with parameters have a / in them.
        path_ = std::filesystem::path(::testing::TempDir()) /
                name_of(name + std::to_string(::getpid()));
        std::filesystem::create_directories(path_);
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
    std::filesystem::path write(const std::string& name, std::span<const std::byte> bytes) const {
        std::ofstream(path_ / name, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
        return path_ / name;
    }

  private:
    std::filesystem::path path_;
};

}  // namespace tandem::test
