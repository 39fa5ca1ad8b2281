// Typed access to metadata: what converts, what does not, and what the errors say.
#include "gguf/metadata.h"

#include <gtest/gtest.h>

#include <limits>

#include "gguf/error.h"
#include "vectors.h"

namespace tandem::gguf {
namespace {

using test::error_of;

using Unsigned = std::vector<uint64_t>;
using Signed = std::vector<int64_t>;
using Reals = std::vector<double>;
using Texts = std::vector<std::string>;

Metadata sample() {
    Metadata metadata("model.gguf");
    metadata.set_u32("count", 32);
    metadata.set_f32("epsilon", 1e-5f);
    metadata.set_bool("flag", true);
    metadata.set_string("name", "llama");
    metadata.set("large", {.type = ValueType::U64, .elements = Unsigned{UINT64_MAX}});
    metadata.set("negative", {.type = ValueType::I8, .elements = Signed{-7}});
    metadata.set("heads", {.type = ValueType::I32, .array = true, .elements = Signed{8, 4, 0}});
    metadata.set("one", {.type = ValueType::U32, .array = true, .elements = Unsigned{5}});
    metadata.set("none", {.type = ValueType::U32, .array = true, .elements = Unsigned{}});
    metadata.set("mask", {.type = ValueType::Bool, .array = true, .elements = Unsigned{1, 0}});
    metadata.set("scales", {.type = ValueType::F64, .array = true, .elements = Reals{0.5, 2}});
    metadata.set("tokens", {.type = ValueType::String, .array = true, .elements = Texts{"a", ""}});
    metadata.set("precise", {.type = ValueType::I64, .elements = Signed{(1ll << 53) + 1}});
    return metadata;
}

TEST(Metadata, absent_keys) {
    const Metadata metadata = sample();
    EXPECT_FALSE(metadata.contains("absent"));
    EXPECT_EQ(metadata.find("absent"), nullptr);
    for (const char* key : {"absent", "none"}) {
        EXPECT_EQ(metadata.integer(key), std::nullopt);
        EXPECT_EQ(metadata.real(key), std::nullopt);
        EXPECT_EQ(metadata.boolean(key), std::nullopt);
        EXPECT_EQ(metadata.text(key), std::nullopt);
        EXPECT_TRUE(metadata.integers(key).empty());
        EXPECT_TRUE(metadata.reals(key).empty());
        EXPECT_TRUE(metadata.texts(key).empty());
    }
}

TEST(Metadata, conversions_that_lose_nothing) {
    const Metadata metadata = sample();
    EXPECT_EQ(metadata.integer("count"), 32);
    EXPECT_EQ(metadata.integer("negative"), -7);
    EXPECT_EQ(metadata.integer("one"), 5);
    EXPECT_EQ(metadata.real("epsilon"), double(1e-5f));
    EXPECT_EQ(metadata.real("count"), 32.0);
    EXPECT_EQ(metadata.boolean("flag"), true);
    EXPECT_EQ(metadata.text("name"), "llama");
    EXPECT_EQ(metadata.integers("heads"), (Signed{8, 4, 0}));
    EXPECT_EQ(metadata.integers("count"), Signed{32});
    EXPECT_EQ(metadata.integers("mask"), (Signed{1, 0}));
    EXPECT_EQ(metadata.reals("scales"), (Reals{0.5, 2}));
    EXPECT_EQ(metadata.reals("heads"), (Reals{8, 4, 0}));
    ASSERT_EQ(metadata.texts("tokens").size(), 2);
    EXPECT_EQ(metadata.texts("tokens").data(),
              std::get<Texts>(metadata.find("tokens")->elements).data());
    EXPECT_EQ(metadata.texts("name").front(), "llama");
}

TEST(Metadata, errors_name_key_value_and_expectation) {
    const Metadata metadata = sample();
    EXPECT_EQ(error_of([&] { (void)metadata.integer("name"); }),
              "model.gguf: E_METADATA: key \"name\" holds string \"llama\", expected an integer");
    EXPECT_EQ(error_of([&] { (void)metadata.integer("heads"); }),
              "model.gguf: E_METADATA: key \"heads\" holds array of 3 i32 [8, 4, 0], expected an "
              "integer");
    EXPECT_EQ(error_of([&] { (void)metadata.integer("large"); }),
              "model.gguf: E_METADATA: key \"large\" holds u64 18446744073709551615, expected an "
              "integer");
    EXPECT_EQ(error_of([&] { (void)metadata.integer("epsilon"); }),
              "model.gguf: E_METADATA: key \"epsilon\" holds f32 1e-05, expected an integer");
    EXPECT_EQ(error_of([&] { (void)metadata.integer("flag"); }),
              "model.gguf: E_METADATA: key \"flag\" holds bool true, expected an integer");
    EXPECT_EQ(error_of([&] { (void)metadata.real("precise"); }),
              "model.gguf: E_METADATA: key \"precise\" holds i64 9007199254740993, expected a "
              "number");
    EXPECT_EQ(error_of([&] { (void)metadata.boolean("count"); }),
              "model.gguf: E_METADATA: key \"count\" holds u32 32, expected a bool");
    EXPECT_EQ(error_of([&] { (void)metadata.text("count"); }),
              "model.gguf: E_METADATA: key \"count\" holds u32 32, expected a string");
    EXPECT_EQ(error_of([&] { (void)metadata.text("tokens"); }),
              "model.gguf: E_METADATA: key \"tokens\" holds array of 2 string [\"a\", \"\"], "
              "expected a string");
    EXPECT_EQ(error_of([&] { (void)metadata.integers("scales"); }),
              "model.gguf: E_METADATA: key \"scales\" holds array of 2 f64 [0.5, 2], expected "
              "integers");
    EXPECT_EQ(error_of([&] { (void)metadata.reals("tokens"); }),
              "model.gguf: E_METADATA: key \"tokens\" holds array of 2 string [\"a\", \"\"], "
              "expected numbers");
    EXPECT_EQ(error_of([&] { (void)metadata.texts("heads"); }),
              "model.gguf: E_METADATA: key \"heads\" holds array of 3 i32 [8, 4, 0], expected "
              "strings");
}

TEST(Metadata, set_replaces_in_place) {
    Metadata metadata = sample();
    const size_t before = metadata.entries().size();
    metadata.set_string("count", "many");
    EXPECT_EQ(metadata.entries().size(), before);
    EXPECT_EQ(metadata.entries()[0].first, "count");
    EXPECT_EQ(metadata.text("count"), "many");
}

TEST(Metadata, descriptions) {
    const auto reals = [](ValueType type, double value) {
        return describe({.type = type, .elements = Reals{value}});
    };
    EXPECT_EQ(reals(ValueType::F32, double(0.1f)), "f32 0.1");
    EXPECT_EQ(reals(ValueType::F64, 0.1), "f64 0.1");
    EXPECT_EQ(reals(ValueType::F32, std::numeric_limits<double>::infinity()), "f32 inf");
    EXPECT_EQ(describe({.type = ValueType::Bool, .elements = Unsigned{0}}), "bool false");
    const MetadataValue several = {
        .type = ValueType::U8, .array = true, .elements = Unsigned{1, 2, 3, 4}};
    EXPECT_EQ(describe(several), "array of 4 u8 [1, 2, 3, 4]");
    EXPECT_EQ(describe(several, 2), "array of 4 u8 [1, 2, ...]");
    EXPECT_EQ(describe(several, 0), "array of 4 u8 [...]");
    EXPECT_EQ(describe({.type = ValueType::String, .elements = Texts{"a\"b\\\n\x01\xff"}}),
              "string \"a\\\"b\\\\\\n\\x01\\xff\"");
    EXPECT_EQ(describe({.type = ValueType::String, .elements = Texts{std::string(200, 'x')}}),
              "string \"" + std::string(128, 'x') + "...\"");
}

}  // namespace
}  // namespace tandem::gguf
