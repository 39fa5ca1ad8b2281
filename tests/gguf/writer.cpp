// What the writer writes the reader reads, and the bytes follow the rules for writers.
#include "gguf/writer.h"

#include <gtest/gtest.h>

#include "folder.h"
#include "gguf/error.h"
#include "vectors.h"

namespace tandem::gguf {
namespace {

using test::error_of;
using test::Folder;

std::vector<std::byte> read_bytes(const std::filesystem::path& path) {
    std::vector<std::byte> bytes(std::filesystem::file_size(path));
    std::ifstream(path, std::ios::binary)
        .read(reinterpret_cast<char*>(bytes.data()), std::streamsize(bytes.size()));
    return bytes;
}

Metadata every_kind() {
    Metadata metadata;
    metadata.set_u32("a.u32", 7);
    metadata.set_f32("a.f32", 0.1f);
    metadata.set_bool("a.bool", true);
    metadata.set_string("general.architecture", "test");
    const auto signeds = [&](const char* key, ValueType type, std::vector<int64_t> values) {
        metadata.set(key, {.type = type, .array = true, .elements = std::move(values)});
    };
    const auto unsigneds = [&](const char* key, ValueType type, std::vector<uint64_t> values) {
        metadata.set(key, {.type = type, .array = true, .elements = std::move(values)});
    };
    signeds("b.i8", ValueType::I8, {-128, 127});
    signeds("b.i16", ValueType::I16, {-32768, 32767});
    signeds("b.i32", ValueType::I32, {INT32_MIN, INT32_MAX});
    signeds("b.i64", ValueType::I64, {INT64_MIN, INT64_MAX});
    unsigneds("b.u8", ValueType::U8, {0, 255});
    unsigneds("b.u16", ValueType::U16, {65535});
    unsigneds("b.u64", ValueType::U64, {UINT64_MAX});
    unsigneds("b.bool", ValueType::Bool, {1, 0, 1});
    unsigneds("b.empty", ValueType::U32, {});
    metadata.set(
        "b.f64",
        {.type = ValueType::F64, .array = true, .elements = std::vector<double>{1e300, -0.5}});
    metadata.set("b.texts", {.type = ValueType::String,
                             .array = true,
                             .elements = std::vector<std::string>{"", "\xff\n", "three"}});
    return metadata;
}

TEST(Writer, round_trip) {
    const Folder folder;
    const auto path = folder / "model.gguf";
    const Metadata metadata = every_kind();
    Writer writer(path, metadata,
                  {{.name = "first", .dtype = DType::Q4_0, .dims = 2, .extents = {32, 2, 1, 1}},
                   {.name = "second", .dtype = DType::I8, .dims = 4, .extents = {5, 1, 3, 1}},
                   {.name = "third", .extents = {1, 1, 1, 1}}});
    std::vector<std::byte> bytes(36 + 15 + 4);
    for (size_t i = 0; i < bytes.size(); i++) bytes[i] = std::byte(i + 1);
    const std::span<const std::byte> all(bytes);
    writer.write(all.first(20));
    writer.write(all.subspan(20, 16));
    writer.write(all.subspan(36, 15));
    writer.write(all.subspan(51));
    writer.finish();

    const File file = File::open(path);
    EXPECT_EQ(file.version(), 3);
    ASSERT_EQ(file.metadata().entries().size(), metadata.entries().size());
    EXPECT_EQ(file.metadata().entries()[0].first, "general.architecture");
    for (const auto& [key, value] : metadata.entries()) {
        const MetadataValue* read = file.metadata().find(key);
        ASSERT_TRUE(read) << key;
        EXPECT_EQ(read->type, value.type) << key;
        EXPECT_EQ(read->array, value.array) << key;
        EXPECT_EQ(read->elements, value.elements) << key;
    }
    ASSERT_EQ(file.tensors().size(), 3);
    EXPECT_EQ(file.tensors()[1].dims, 3);  // the last extent is 1
    EXPECT_EQ(file.tensors()[0].offset, 0);
    EXPECT_EQ(file.tensors()[1].offset, 64);
    EXPECT_EQ(file.tensors()[2].offset, 96);
    size_t begin = 0;
    for (const TensorInfo& tensor : file.tensors()) {
        const auto data = file.data(tensor);
        EXPECT_TRUE(std::equal(data.begin(), data.end(), bytes.begin() + long(begin)));
        begin += data.size();
    }
    EXPECT_EQ(std::filesystem::file_size(path) % 32, 0);
}

TEST(Writer, worked_example_of_the_format) {
    const Folder folder;
    Metadata metadata;
    metadata.set_string("general.architecture", "t");
    Writer writer(folder / "x.gguf", metadata, {{.name = "a", .extents = {3, 2, 1, 1}}});
    const float values[] = {1, 2, 3, 4, 5, 6};
    writer.write(std::as_bytes(std::span(values)));
    writer.finish();
    const auto json = test::vectors("gguf/cases.json");
    EXPECT_EQ(test::hex_of_bytes(read_bytes(folder / "x.gguf")), json["cases"][0]["hex"]);
}

TEST(Writer, alignment_of_the_metadata) {
    const Folder folder;
    Metadata metadata;
    metadata.set_u32("general.alignment", 128);
    Writer writer(folder / "x.gguf", metadata,
                  {{.name = "a", .extents = {1, 1, 1, 1}}, {.name = "b", .extents = {1, 1, 1, 1}}});
    const float value = 1;
    for (int i = 0; i < 2; i++) writer.write(std::as_bytes(std::span(&value, 1)));
    writer.finish();
    EXPECT_EQ(File::open(folder / "x.gguf").tensors()[1].offset, 128);
    EXPECT_EQ(std::filesystem::file_size(folder / "x.gguf") % 128, 0);
}

TEST(Writer, directory_only) {
    const Folder folder;
    const auto path = folder / "x.gguf";
    Writer writer(path, every_kind(), {{.name = "a", .extents = {1 << 20, 1 << 20, 1, 1}}});
    writer.finish(true);
    EXPECT_LT(std::filesystem::file_size(path), 2000);
    const File file = File::open(path, Content::Directory);
    EXPECT_EQ(file.tensor_bytes(), int64_t(1) << 42);
    EXPECT_NE(error_of([&] { File::open(path); }), "");
}

TEST(Writer, no_tensors_and_no_keys) {
    const Folder folder;
    Writer writer(folder / "x.gguf", {}, {});
    writer.finish();
    EXPECT_TRUE(File::open(folder / "x.gguf").tensors().empty());
}

TEST(Writer, misuse_is_a_bug) {
    const Folder folder;
    const float values[2] = {};
    Writer writer(folder / "x.gguf", {}, {{.name = "a", .extents = {1, 1, 1, 1}}});
    EXPECT_THROW(writer.finish(), std::logic_error);
    EXPECT_THROW(writer.write(std::as_bytes(std::span(values))), std::logic_error);
}

TEST(Writer, refuses_what_the_reader_refuses) {
    const Folder folder;
    const std::string path = folder / "x.gguf";
    const auto with = [&](const TensorInfo& tensor) {
        return error_of([&] { Writer(path, {}, {tensor}); });
    };
    EXPECT_EQ(with({.name = "a", .dtype = DType::Q4_K, .extents = {4100, 1, 1, 1}}),
              path +
                  ": E_ROW_SIZE: tensor \"a\": row length 4100 is not a multiple of 256 "
                  "required by Q4_K");
    EXPECT_NE(with({.name = "", .extents = {1, 1, 1, 1}}).find("E_NAME"), std::string::npos);
    EXPECT_NE(with({.name = "a", .extents = {0, 1, 1, 1}}).find("E_DIMS"), std::string::npos);
    EXPECT_NE(
        with({.name = "a", .dtype = DType::Q8_K, .extents = {256, 1, 1, 1}}).find("E_TENSOR_TYPE"),
        std::string::npos);
    Metadata metadata;
    metadata.set("k", {.type = ValueType::U8, .elements = std::vector<uint64_t>{256}});
    EXPECT_EQ(error_of([&] { Writer(path, metadata, {}); }),
              path + ": E_VALUE: key \"k\": u8 256 does not fit its type");
    metadata = Metadata();
    metadata.set_u32("", 1);
    EXPECT_NE(error_of([&] { Writer(path, metadata, {}); }).find("E_KEY"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Writer, unwritable_path) {
    const Folder folder;
    const std::string path = folder / "absent/x.gguf";
    EXPECT_EQ(error_of([&] { Writer(path, {}, {}); }),
              path + ": E_IO: cannot be written: No such file or directory");
}

}  // namespace
}  // namespace tandem::gguf
