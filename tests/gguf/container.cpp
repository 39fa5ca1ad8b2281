// Every case of the format's test files gets its verdict, as bytes in memory.
#include <gtest/gtest.h>

#include <map>

#include "gguf/error.h"
#include "gguf/file.h"
#include "vectors.h"

namespace tandem::gguf {
namespace {

using test::bytes_of_hex;
using test::error_of;

// Where readers differ, ours takes what is unambiguous and refuses the rest.
const std::map<std::string, std::string> decisions = {
    {"n_dims_zero", "E_DIMS"},    {"offset_gap", ""},  // aligned, in range and disjoint is enough
    {"tensor_order_swapped", ""},                      // likewise
    {"bool_2", "E_VALUE"},        {"nested_array", "E_TYPE"}, {"dim0_zero", "E_DIMS"},
};

std::string category_of(const std::string& error) {
    const size_t begin = error.find("E_");
    return begin == std::string::npos ? error : error.substr(begin, error.find(':', begin) - begin);
}

struct Case {
    std::string name;
    std::string category;  // empty: accepted
    std::vector<std::byte> bytes;
};

std::vector<Case> cases() {
    std::vector<Case> all;
    const auto json = test::vectors("gguf/cases.json");
    for (const auto& item : json["cases"]) {
        Case one{.name = item["name"], .category = "", .bytes = bytes_of_hex(item["hex"])};
        if (item["expect"] == "reject") one.category = item["error"];
        if (item["expect"] == "policy") one.category = decisions.at(one.name);
        all.push_back(std::move(one));
    }
    return all;
}

std::vector<std::byte> bytes_of_case(const std::string& name) {
    for (Case& one : cases()) {
        if (one.name == name) return std::move(one.bytes);
    }
    ADD_FAILURE() << "no case " << name;
    return {};
}

TEST(Container, verdicts) {
    const auto all = cases();
    EXPECT_EQ(all.size(), 55);
    for (const Case& one : all) {
        const std::string error = error_of([&] { File::parse(one.bytes, one.name); });
        EXPECT_EQ(category_of(error), one.category) << one.name << ": " << error;
    }
}

TEST(Container, errors_are_one_printable_line_that_names_the_file) {
    for (const Case& one : cases()) {
        const std::string error = error_of([&] { File::parse(one.bytes, one.name); });
        if (one.category.empty()) continue;
        EXPECT_EQ(error.rfind(one.name + ": " + one.category + ": ", 0), 0) << error;
        for (char c : error) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << one.name;
    }
}

// Cutting a file anywhere in front of the last byte of its last tensor is an error, never a crash.
TEST(Container, every_cut_is_refused) {
    for (const Case& one : cases()) {
        if (!one.category.empty() || one.name == "trailing_bytes") continue;
        size_t needed = 0;
        const File whole = File::parse(one.bytes, one.name);
        for (const TensorInfo& tensor : whole.tensors()) {
            const auto data = whole.data(tensor);
            needed = std::max(needed, size_t(data.data() + data.size() - one.bytes.data()));
        }
        for (size_t length = 0; length < needed; length++) {
            const std::vector<std::byte> cut(one.bytes.begin(), one.bytes.begin() + length);
            EXPECT_NE(error_of([&] { File::parse(cut, one.name); }), "") << one.name << length;
        }
    }
}

TEST(Container, directory_content_does_without_data) {
    for (const std::string name : {"data_truncated", "minimal", "two_tensors_quantized"}) {
        auto bytes = bytes_of_case(name);
        if (name == "minimal") bytes.resize(0x6a);  // the end of the tensor record
        const File file = File::parse(bytes, name, Content::Directory);
        ASSERT_FALSE(file.tensors().empty());
        EXPECT_THROW((void)file.data(file.tensors()[0]), std::logic_error);
    }
    EXPECT_NE(error_of([&] { File::parse(bytes_of_case("overlap"), "x", Content::Directory); }),
              "");
}

TEST(Container, minimal_file) {
    const auto bytes = bytes_of_case("minimal");
    const File file = File::parse(bytes, "minimal");
    EXPECT_EQ(file.version(), 3);
    EXPECT_EQ(file.path(), "minimal");
    EXPECT_EQ(file.metadata().text("general.architecture"), "t");
    ASSERT_EQ(file.tensors().size(), 1);
    const TensorInfo* a = file.find("a");
    ASSERT_EQ(a, &file.tensors()[0]);
    EXPECT_EQ(a->dims, 2);
    EXPECT_EQ(a->row_length(), 3);
    EXPECT_EQ(a->rows(), 2);
    EXPECT_EQ(a->bytes(), 24);
    EXPECT_EQ(file.tensor_bytes(), 24);
    float values[6];
    ASSERT_EQ(file.data(*a).size(), sizeof values);
    std::memcpy(values, file.data(*a).data(), sizeof values);
    for (int i = 0; i < 6; i++) EXPECT_EQ(values[i], float(i + 1));
    EXPECT_EQ(file.find("b"), nullptr);
}

TEST(Container, every_scalar_type) {
    const auto bytes = bytes_of_case("all_scalar_types");
    const File file = File::parse(bytes, "x");
    const Metadata& metadata = file.metadata();
    EXPECT_EQ(metadata.integer("k0"), 255);
    EXPECT_EQ(metadata.integer("k1"), -1);
    EXPECT_EQ(metadata.integer("k2"), 65535);
    EXPECT_EQ(metadata.integer("k3"), -1);
    EXPECT_EQ(metadata.integer("k4"), 4294967295);
    EXPECT_EQ(metadata.integer("k5"), -1);
    EXPECT_EQ(metadata.real("k6"), 1.5);
    EXPECT_EQ(metadata.boolean("k7"), true);
    EXPECT_EQ(metadata.text("k8"), "h\xc3\xa9");
    EXPECT_EQ(describe(*metadata.find("k10")), "u64 18446744073709551615");
    EXPECT_EQ(metadata.integer("k11"), -1);
    EXPECT_EQ(metadata.real("k12"), -2.25);
}

TEST(Container, larger_alignment) {
    const auto bytes = bytes_of_case("alignment_64");
    const File file = File::parse(bytes, "x");
    for (const TensorInfo& tensor : file.tensors()) EXPECT_EQ(tensor.offset % 64, 0);
}

}  // namespace
}  // namespace tandem::gguf
