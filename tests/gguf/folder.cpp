// Folders of tests lie side by side, so that each goes with its test.
#include "gguf/folder.h"

namespace tandem::test {
namespace {

class FolderOfTest : public ::testing::TestWithParam<int> {};

TEST_P(FolderOfTest, lies_right_in_the_one_for_temporary_files) {
    const Folder folder;
    const std::filesystem::path own = (folder / "file").parent_path();
    EXPECT_TRUE(std::filesystem::equivalent(own.parent_path(), ::testing::TempDir())) << own;
}

INSTANTIATE_TEST_SUITE_P(WithParameters, FolderOfTest, ::testing::Values(1));

}  // namespace
}  // namespace tandem::test
