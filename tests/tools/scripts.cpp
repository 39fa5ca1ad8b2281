// What scripts/build and scripts/test ask of CMake and CTest, which are others here: they only note
// their words.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace tandem::test {

namespace fs = std::filesystem;

namespace {

// A tree with those two scripts and nothing to build.
class Scripts : public testing::Test {
  protected:
    void SetUp() override {
        fs::remove_all(tree_);  // of a run that was cut short
        const fs::path scripts = fs::path(TANDEM_TEST_DATA).parent_path().parent_path() / "scripts";
        fs::create_directories(tree_ / "scripts");
        for (const char* name : {"build", "test"})
            fs::copy_file(scripts / name, tree_ / "scripts" / name);
        for (const char* name : {"scripts/install", "scripts/check"}) write_program(name, "");
        for (const std::string name : {"cmake", "ctest"})
            write_program("bin/" + name, "echo " + name + " \"$@\" >> '" + said_.string() + "'");
    }
    void TearDown() override { fs::remove_all(tree_); }

    void write_program(const fs::path& name, const std::string& line) {
        fs::create_directories((tree_ / name).parent_path());
        std::ofstream(tree_ / name) << "#!/bin/sh\n" << line << "\n";
        fs::permissions(tree_ / name, fs::perms::owner_all);
    }
    // As if it had been configured.
    void make_build_folder() {
        fs::create_directories(tree_ / "build");
        std::ofstream(tree_ / "build/CMakeCache.txt") << "\n";
    }
    // The line of what was asked that begins with `program`.
    std::string asked(const std::string& program, const std::string& variables,
                      const std::string& words) {
        fs::remove(said_);
        const std::string line = "env -u TANDEM_TESTS -u TANDEM_BENCH -u TANDEM_VULKAN PATH='" +
                                 (tree_ / "bin").string() + "':\"$PATH\" " + variables + " '" +
                                 tree_.string() + "'/scripts/" + words + " 2>&1";
        EXPECT_EQ(std::system(line.c_str()), 0) << line;
        std::ifstream in(said_);
        for (std::string one; std::getline(in, one);)
            if (one.starts_with(program)) return one;
        return "nothing";
    }

    const fs::path tree_ =
        fs::path(testing::TempDir()) /
        (std::string("scripts-") + testing::UnitTest::GetInstance()->current_test_info()->name());
    const fs::path said_ = tree_ / "said.txt";
};

TEST_F(Scripts, build_begins_without_tests_and_keeps_what_a_folder_has) {
    EXPECT_EQ(asked("cmake --preset", "", "build"), "cmake --preset release -DTANDEM_TESTS=OFF");
    make_build_folder();
    EXPECT_EQ(asked("cmake --preset", "", "build"), "cmake --preset release");
}

TEST_F(Scripts, build_does_what_variables_say) {
    EXPECT_EQ(asked("cmake --preset", "TANDEM_TESTS=ON", "build"),
              "cmake --preset release -DTANDEM_TESTS=OFF -DTANDEM_TESTS=ON");
    make_build_folder();
    EXPECT_EQ(asked("cmake --preset", "TANDEM_TESTS=OFF TANDEM_VULKAN=OFF", "build"),
              "cmake --preset release -DTANDEM_TESTS=OFF -DTANDEM_VULKAN=OFF");
    EXPECT_EQ(asked("cmake --preset", "", "test"),
              "cmake --preset release -DTANDEM_TESTS=ON -DTANDEM_BENCH=ON");
    EXPECT_EQ(asked("cmake --build", "", "build --target tandem"),
              "cmake --build build --target tandem");
}

TEST_F(Scripts, test_leaves_out_long_tests_where_nothing_chooses) {
    EXPECT_TRUE(asked("ctest ", "", "test").ends_with(" -LE long"));
    EXPECT_TRUE(asked("ctest ", "", "test -V").ends_with(" -LE long -V"));
    for (const std::string all : {"--all", "-R Cpu", "-RCpu", "-L long", "-LE vulkan"}) {
        const std::string line = asked("ctest ", "", "test " + all);
        EXPECT_EQ(line.find("-LE long"), std::string::npos) << line;
        EXPECT_TRUE(all == "--all" || line.ends_with(" " + all)) << line;
    }
}

}  // namespace

}  // namespace tandem::test
