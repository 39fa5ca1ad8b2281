// The exact texts for the common faults of files: what a user sees, and what would help.
#include <gtest/gtest.h>

#include "folder.h"
#include "gguf/error.h"
#include "gguf/file.h"
#include "vectors.h"

namespace tandem::gguf {
namespace {

using test::error_of;

std::vector<std::byte> bytes_of_case(const std::string& name) {
    const auto json = test::vectors("gguf/cases.json");
    for (const auto& item : json["cases"]) {
        if (item["name"] == name) return test::bytes_of_hex(item["hex"]);
    }
    ADD_FAILURE() << "no case " << name;
    return {};
}

std::string message(const std::string& name) {
    const auto bytes = bytes_of_case(name);
    return error_of([&] { File::parse(bytes, "m.gguf"); });
}

// The message for the file of the case `minimal`, its tensor being of another type.
std::string message_for_type(uint32_t id) {
    auto bytes = bytes_of_case("minimal");
    std::memcpy(bytes.data() + 0x5e, &id, sizeof id);
    return error_of([&] { File::parse(bytes, "m.gguf"); });
}

TEST(Messages, other_files) {
    EXPECT_EQ(message("bad_magic"),
              "m.gguf: E_MAGIC: not a GGUF file: it begins with \"FUGG\" (file offset 0x0)");
    const std::string text = "{\"a\": 1}";
    EXPECT_EQ(error_of([&] { File::parse(std::as_bytes(std::span(text)), "m.json"); }),
              "m.json: E_MAGIC: not a GGUF file: it begins with \"{\\\"a\\\"\" (file offset 0x0)");
}

TEST(Messages, other_versions) {
    EXPECT_EQ(
        message("version_1"),
        "m.gguf: E_VERSION: the format version is 1, read are 2 and 3; version 1 is obsolete, "
        "convert the model again (file offset 0x4)");
    EXPECT_EQ(
        message("version_4"),
        "m.gguf: E_VERSION: the format version is 4, read are 2 and 3; the file is newer than "
        "this program (file offset 0x4)");
    EXPECT_EQ(message("byte_swapped"),
              "m.gguf: E_ENDIAN: the file is big endian, only little endian is read; convert it "
              "again for little endian (file offset 0x4)");
}

TEST(Messages, incomplete_downloads) {
    EXPECT_EQ(message("truncated_header"),
              "m.gguf: E_TRUNCATED: the file ends inside the number of tensors, 2 bytes early; if "
              "it is a download, it is incomplete (file offset 0x8)");
    EXPECT_EQ(message("truncated_tensor_info"),
              "m.gguf: E_TRUNCATED: tensor \"a\" (index 0): the file ends inside the offset, 4 "
              "bytes early; if it is a download, it is incomplete (file offset 0x62)");
    EXPECT_EQ(
        message("data_truncated"),
        "m.gguf: E_RANGE: tensor \"a\" (index 0): its 256 bytes at offset 0 end outside the "
        "10 bytes of tensor data: the file is 246 bytes too short; if it is a download, it is "
        "incomplete (file offset 0x80)");
    auto bytes = bytes_of_case("minimal");
    bytes.resize(0x70);  // inside the padding in front of the data
    EXPECT_EQ(error_of([&] { File::parse(bytes, "m.gguf"); }),
              "m.gguf: E_TRUNCATED: the file ends before its tensor data: the file is 40 bytes too "
              "short; if it is a download, it is incomplete (file offset 0x70)");
}

TEST(Messages, tensor_types) {
    const std::string begin = "m.gguf: E_TENSOR_TYPE: tensor \"a\" (index 0): ";
    const std::string end = " (file offset 0x5e)";
    EXPECT_EQ(message_for_type(9), begin +
                                       "type 9 (Q8_1) is for activations and not allowed in "
                                       "files; the file is damaged" +
                                       end);
    EXPECT_EQ(message_for_type(31), begin +
                                        "type 31 (Q4_0_4_4) was removed from the format; convert "
                                        "or quantize the model again" +
                                        end);
    EXPECT_EQ(message_for_type(202), begin +
                                         "type 202 (Q4_0_R8) has rows interleaved for another "
                                         "engine; quantize the model again without repacking" +
                                         end);
    EXPECT_EQ(message_for_type(134), begin +
                                         "type 134 (IQ1_BN) is read by another engine only; "
                                         "quantize the model to another type" +
                                         end);
    EXPECT_EQ(message_for_type(99999), begin +
                                           "unknown type 99999; the file is newer than this "
                                           "program, made for another engine, or damaged" +
                                           end);
    EXPECT_EQ(message("row_not_block_multiple"),
              "m.gguf: E_ROW_SIZE: tensor \"a\" (index 0): row length 33 is not a multiple of 32 "
              "required by Q4_0 (file offset 0x56)");
}

// What each case of damage says, without the file and the offset.
struct Damage {
    const char* name;
    const char* text;
};
constexpr Damage damages[] = {
    {"n_tensors_huge",
     "E_COUNT: the number of tensors is 4611686018427387904, the file has room for at most 2"},
    {"key_empty",
     "E_KEY: metadata entry (index 0): the length of the key is 0, allowed are 1 to 65535"},
    {"key_duplicate",
     "E_DUPLICATE: metadata entry (index 1): the key \"general.architecture\" appears a second "
     "time"},
    {"value_type_13", "E_TYPE: key \"x\" (index 0): the value type is 13, allowed are 0 to 12"},
    {"nested_array", "E_TYPE: key \"x\" (index 1): arrays of arrays are not supported"},
    {"string_len_huge",
     "E_LENGTH: key \"x\" (index 0): the length of the value is 4611686018427387904, the most is "
     "1073741824"},
    {"string_array_len_huge",
     "E_LENGTH: key \"x\" (index 0): the array length is 1099511627776, the most is 1073741824"},
    {"bool_2", "E_VALUE: key \"x\" (index 1): a bool is stored as 2, allowed are 0 and 1"},
    {"alignment_12",
     "E_ALIGNMENT: key \"general.alignment\" holds u32 12, allowed is a u32 that is a power of two "
     "up to 1048576"},
    {"alignment_wrong_type",
     "E_ALIGNMENT: key \"general.alignment\" holds u64 32, allowed is a u32 that is a power of two "
     "up to 1048576"},
    {"name_duplicate", "E_DUPLICATE: tensor (index 1): the name \"a\" appears a second time"},
    {"n_dims_5",
     "E_DIMS: tensor \"a\" (index 0): the number of dimensions is 5, allowed are 1 to 4"},
    {"dim1_zero",
     "E_DIMS: tensor \"a\" (index 0): extent 1 is 0, allowed are 1 to 9223372036854775807"},
    {"dims_product_overflow",
     "E_DIMS: tensor \"a\" (index 0): the product of the extents up to extent 1 is more than "
     "9223372036854775807"},
    {"bytes_overflow",
     "E_DIMS: tensor \"a\" (index 0): the tensor takes more than 9223372036854775807 bytes"},
    {"offset_misaligned",
     "E_OFFSET: tensor \"a\" (index 0): offset 4 is not a multiple of the alignment 32"},
    {"offset_huge",
     "E_RANGE: tensor \"a\" (index 0): offset 18446744073709551584 and 16 bytes end beyond "
     "9223372036854775807"},
    {"overlap",
     "E_OVERLAP: tensor \"b\" (index 1): begins at offset 32, inside tensor \"a\" (index 0), which "
     "ends at 64"},
};

TEST(Messages, damage) {
    for (const Damage& damage : damages) {
        const std::string found = message(damage.name);
        EXPECT_EQ(found.substr(0, found.find(" (file offset")),
                  std::string("m.gguf: ") + damage.text);
    }
}

// Each tensor's numbers fit 63 bits, their sums do not.
TEST(Messages, more_elements_than_can_be_counted) {
    std::string file = "GGUF";
    const auto put = [&](auto number) {
        file.append(reinterpret_cast<const char*>(&number), sizeof number);
    };
    put(uint32_t(3)), put(uint64_t(2)), put(uint64_t(0));
    const uint64_t rows = uint64_t(3) << 30, columns = uint64_t(1) << 31;
    for (const char name : {'a', 'b'}) {
        put(uint64_t(1)), put(name);
        put(uint32_t(2)), put(columns), put(rows), put(uint32_t(DType::IQ1_S));
        put(name == 'a' ? uint64_t(0) : rows * row_bytes(DType::IQ1_S, int64_t(columns)));
    }
    EXPECT_EQ(error_of([&] {
                  File::parse(std::as_bytes(std::span(file)), "m.gguf", Content::Directory);
              }),
              "m.gguf: E_DIMS: the tensors up to \"b\" have more than 9223372036854775807 elements "
              "or bytes");
}

TEST(Messages, files_that_cannot_be_opened) {
    const test::Folder folder;
    const std::string absent = folder / "absent.gguf";
    EXPECT_EQ(error_of([&] { File::open(absent); }),
              absent + ": E_IO: cannot be opened: No such file or directory");
    EXPECT_EQ(error_of([&] { File::open(folder / "."); }),
              (folder / ".").string() + ": E_IO: is not a regular file");
    const auto empty = folder.write("empty.gguf", {});
    EXPECT_EQ(error_of([&] { File::open(empty); }),
              empty.string() +
                  ": E_TRUNCATED: the file ends inside the magic, 4 bytes early; if it "
                  "is a download, it is incomplete (file offset 0x0)");
}

}  // namespace
}  // namespace tandem::gguf
