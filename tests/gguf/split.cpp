// Split models: opened by any part, read as one; what is wrong with a set of parts.
#include <gtest/gtest.h>

#include "folder.h"
#include "gguf/error.h"
#include "gguf/file.h"
#include "gguf/writer.h"
#include "vectors.h"

namespace tandem::gguf {
namespace {

using test::error_of;
using test::Folder;

void write_example(const Folder& folder) {
    const auto json = test::vectors("gguf/cases.json");
    for (const auto& part : json["split_example"]) {
        folder.write(part["file"], test::bytes_of_hex(part["hex"]));
    }
}

// One part of a model with one F32 tensor.
void write_part(const std::filesystem::path& path, int part, int count, const std::string& tensor,
                int tensors) {
    Metadata metadata;
    metadata.set_string("general.architecture", "t");
    metadata.set("split.no",
                 {.type = ValueType::U16, .elements = std::vector<uint64_t>{uint64_t(part)}});
    metadata.set("split.count",
                 {.type = ValueType::U16, .elements = std::vector<uint64_t>{uint64_t(count)}});
    metadata.set("split.tensors.count",
                 {.type = ValueType::I32, .elements = std::vector<int64_t>{tensors}});
    Writer writer(path, metadata, {{.name = tensor, .extents = {1, 1, 1, 1}}});
    const float value = float(part);
    writer.write(std::as_bytes(std::span(&value, 1)));
    writer.finish();
}

TEST(Split, any_part_opens_the_model) {
    const Folder folder;
    write_example(folder);
    for (const std::string name : {"m-00001-of-00002.gguf", "m-00002-of-00002.gguf"}) {
        const File file = File::open(folder / name);
        EXPECT_EQ(file.path(), (folder / "m-00001-of-00002.gguf").string());
        EXPECT_EQ(file.metadata().text("general.architecture"), "t");
        ASSERT_EQ(file.tensors().size(), 2);
        const TensorInfo* a = file.find("a");
        const TensorInfo* b = file.find("b");
        ASSERT_TRUE(a && b);
        EXPECT_EQ(a->part, 0);
        EXPECT_EQ(b->part, 1);
        float values[4];
        std::memcpy(values, file.data(*a).data(), 8);
        std::memcpy(values + 2, file.data(*b).data(), 8);
        for (int i = 0; i < 4; i++) EXPECT_EQ(values[i], float(i + 1));
    }
}

TEST(Split, parts_survive_a_move_of_the_file) {
    const Folder folder;
    write_example(folder);
    File file = File::open(folder / "m-00001-of-00002.gguf");
    const auto* before = file.data(file.tensors()[1]).data();
    const File moved = std::move(file);
    EXPECT_EQ(moved.data(moved.tensors()[1]).data(), before);
}

TEST(Split, missing_part_is_named) {
    const Folder folder;
    write_example(folder);
    const std::string first = folder / "m-00001-of-00002.gguf";
    const std::string second = folder / "m-00002-of-00002.gguf";
    std::filesystem::rename(second, folder / "elsewhere");
    EXPECT_EQ(error_of([&] { File::open(first); }),
              second +
                  ": E_SPLIT: part 2 of 2 is missing; all parts of a split model belong in "
                  "one folder");
    std::filesystem::rename(folder / "elsewhere", second);
    std::filesystem::remove(first);
    EXPECT_EQ(error_of([&] { File::open(second); }),
              first +
                  ": E_SPLIT: part 1 of 2 is missing; all parts of a split model belong in "
                  "one folder");
}

TEST(Split, name_must_agree_with_the_keys) {
    const Folder folder;
    write_example(folder);
    const std::string renamed = folder / "first.gguf";
    std::filesystem::rename(folder / "m-00001-of-00002.gguf", renamed);
    EXPECT_EQ(error_of([&] { File::open(renamed); }),
              renamed +
                  ": E_SPLIT: this is part 1 of 2 of a split model and must be named so: "
                  "NAME-00001-of-0000N.gguf for the first of N parts");
}

TEST(Split, parts_of_different_models) {
    const Folder folder;
    write_part(folder / "m-00001-of-00002.gguf", 0, 2, "a", 2);
    write_part(folder / "m-00002-of-00002.gguf", 1, 3, "b", 2);
    EXPECT_EQ(error_of([&] { File::open(folder / "m-00001-of-00002.gguf"); }),
              (folder / "m-00002-of-00002.gguf").string() +
                  ": E_SPLIT: this is part 2 of 3, expected part 2 of 2; the parts are of "
                  "different models");
}

// The commonest mistake: a copy of the first part in the place of another.
TEST(Split, the_same_part_twice) {
    const Folder folder;
    for (const std::string name : {"m-00001-of-00002.gguf", "m-00002-of-00002.gguf"})
        write_part(folder / name, 0, 2, "a", 2);
    EXPECT_EQ(error_of([&] { File::open(folder / "m-00001-of-00002.gguf"); }),
              (folder / "m-00002-of-00002.gguf").string() +
                  ": E_SPLIT: this is part 1 of 2, expected part 2 of 2; the file has another "
                  "part's name");
}

TEST(Split, tensor_in_two_parts) {
    const Folder folder;
    write_part(folder / "m-00001-of-00002.gguf", 0, 2, "a", 2);
    write_part(folder / "m-00002-of-00002.gguf", 1, 2, "a", 2);
    EXPECT_EQ(error_of([&] { File::open(folder / "m-00001-of-00002.gguf"); }),
              (folder / "m-00002-of-00002.gguf").string() +
                  ": E_DUPLICATE: tensor \"a\" is also in " +
                  (folder / "m-00001-of-00002.gguf").string());
}

TEST(Split, number_of_tensors) {
    const Folder folder;
    write_part(folder / "m-00001-of-00002.gguf", 0, 2, "a", 3);
    write_part(folder / "m-00002-of-00002.gguf", 1, 2, "b", 3);
    EXPECT_EQ(error_of([&] { File::open(folder / "m-00001-of-00002.gguf"); }),
              (folder / "m-00001-of-00002.gguf").string() +
                  ": E_SPLIT: the parts hold 2 tensors, the model has 3");
}

// Which the first part says, though it may hold none of the tensors.
TEST(Split, quantization_of_a_later_version) {
    const Folder folder;
    Metadata metadata;
    metadata.set_u32("general.quantization_version", 3);
    auto write = [&](int part, std::vector<TensorInfo> tensors) {
        metadata.set("split.no",
                     {.type = ValueType::U16, .elements = std::vector<uint64_t>{uint64_t(part)}});
        metadata.set("split.count", {.type = ValueType::U16, .elements = std::vector<uint64_t>{2}});
        Writer(folder / ("m-0000" + std::to_string(part + 1) + "-of-00002.gguf"), metadata, tensors)
            .finish(true);
    };
    write(0, {});
    metadata = {};
    write(1, {{.name = "a", .dtype = DType::Q8_0, .extents = {32, 1, 1, 1}}});
    const std::string path = (folder / "m-00001-of-00002.gguf").string();
    EXPECT_EQ(error_of([&] { File::open(path, Content::Directory); }),
              path +
                  ": E_METADATA: the quantization version is 3, known are versions up to 2; the "
                  "file is newer than this program");
    write(1, {{.name = "a", .extents = {32, 1, 1, 1}}});
    EXPECT_EQ(error_of([&] { File::open(path, Content::Directory); }), "");
}

TEST(Split, keys_out_of_range) {
    const Folder folder;
    const std::string path = folder / "m-00003-of-00002.gguf";
    EXPECT_EQ(error_of([&] { write_part(path, 2, 2, "a", 1); }),
              path +
                  ": E_SPLIT: split.no is 2 and split.count is 2, allowed are a part below the "
                  "count and up to 65535 parts");
}

TEST(Split, one_part_needs_no_name) {
    const Folder folder;
    for (int count : {0, 1}) {
        write_part(folder / "whole.gguf", 0, count, "a", 1);
        EXPECT_EQ(File::open(folder / "whole.gguf").tensors().size(), 1);
    }
}

}  // namespace
}  // namespace tandem::gguf
