// Device tables as files: what they say is what is read, and what cannot be is said in one line.
#include "parallel/device_table.h"

#include <gtest/gtest.h>

#include "gguf/error.h"
#include "gguf/folder.h"
#include "gguf/vectors.h"

namespace tandem::parallel {
namespace {

class DeviceTables : public ::testing::Test {
  protected:
    DeviceTable read(const std::string& text) {
        return read_device_table(folder.write("table.json", std::as_bytes(std::span(text))));
    }
    // Two devices, a and b, and whatever is said behind them.
    DeviceTable pair(const std::string& more, const std::string& free_bytes = "1e9") {
        std::string numbers = R"(, "bytes_per_second": 1, "multiply_adds_per_second": 1})";
        std::string list;
        for (const char* name : {"a", "b"})
            list += std::string(list.empty() ? "" : ", ") + "{\"name\": \"" + name +
                    "\", \"free_bytes\": " + free_bytes + numbers;
        return read("{\"devices\": [" + list + "]" + more + "}");
    }
    std::string error_of(const std::string& more) {
        const std::string error = test::error_of([&] { pair(more); });
        return error.empty() ? error : error.substr(("device table " + path()).size() + 2);
    }
    std::string path() { return (folder / "table.json").string(); }

    test::Folder folder;
};

TEST_F(DeviceTables, links_by_name) {
    DeviceTable table = pair(R"(, "link": {"seconds": 1, "bytes_per_second": 2},
        "links": [{"between": ["b", "a"], "seconds": 3, "bytes_per_second": 4}])");
    EXPECT_EQ(table.links[0][1].seconds, 3);
    EXPECT_EQ(table.links[1][0].bytes_per_second, 4);
}

TEST_F(DeviceTables, links_of_nobody) {
    EXPECT_EQ(error_of(R"(, "links": [{"between": ["a", "c"], "seconds": 3,
        "bytes_per_second": 4}])"),
              "a link is between \"a\" and \"c\", but no device is named \"c\"");
}

TEST_F(DeviceTables, links_that_move_nothing) {
    EXPECT_EQ(error_of(R"(, "link": {"seconds": 1, "bytes_per_second": 0})"),
              "\"link\" needs a number \"bytes_per_second\" above 0");
    EXPECT_EQ(error_of(R"(, "links": [{"between": ["a", "b"], "seconds": 3,
        "bytes_per_second": 0}])"),
              "a link needs a number \"bytes_per_second\" above 0");
}

TEST_F(DeviceTables, texts_where_texts_belong) {
    EXPECT_EQ(error_of(R"(, "links": [{"between": ["a", 1], "seconds": 3,
        "bytes_per_second": 4}])"),
              "every entry of \"links\" needs \"between\" with two device names");
}

TEST_F(DeviceTables, rows_by_name) {
    pair(R"(, "links": [{"between": ["a", "b"], "seconds": 3, "bytes_per_second": 4}])");
    using Names = std::vector<std::string>;
    auto rows = [&](const Names& names) { return read_device_table(path(), names); };
    const DeviceTable turned = rows({"B", "a"});
    ASSERT_EQ(turned.size(), 2u);
    EXPECT_EQ(turned.devices[0].name, "b");
    EXPECT_EQ(turned.links[0][1].seconds, 3);
    EXPECT_EQ(rows({"b"}).size(), 1u);
    for (const Names& names : {Names{"c"}, Names{"a", "a"}}) {
        std::string text;
        try {
            rows(names);
        } catch (const Error& error) {
            text = error.what();
        }
        EXPECT_EQ(text, "device table " + path() + ": no row is left for device " + names.back() +
                            "; there are a, b, and -dev chooses among them");
    }
}

TEST_F(DeviceTables, more_memory_than_there_is) {
    EXPECT_EQ(pair("", "1e300").devices[0].free_bytes, int64_t(1) << 62);
}

TEST_F(DeviceTables, numbers_beyond_all_others) {
    EXPECT_EQ(error_of(R"(, "link": {"seconds": 1e999, "bytes_per_second": 2})"),
              "holds a number that is too large");
}

// What one device leaves of a memory, others of that memory may take, and nobody else.
TEST(LackingBytes, are_those_of_a_memory) {
    DeviceTable table;
    for (std::optional<int> memory : {std::optional(0), std::optional(0), std::optional(1), {}})
        table.devices.push_back({.free_bytes = 100, .memory = memory});
    const std::vector<int64_t> needed{150, 20, 130, 110};
    EXPECT_EQ(lacking_bytes(table, needed, 0), 0);
    EXPECT_EQ(lacking_bytes(table, needed, 1), 0);
    EXPECT_EQ(lacking_bytes(table, needed, 2), 30);
    EXPECT_EQ(lacking_bytes(table, needed, 3), 10);
    // Who would fit its part lacks nothing; others lack together what the memory does.
    auto both = [&](int64_t first, int64_t second) {
        const std::vector<int64_t> more{first, second, 0, 0};
        return std::pair(lacking_bytes(table, more, 0), lacking_bytes(table, more, 1));
    };
    EXPECT_EQ(both(190, 30), std::pair(int64_t(20), int64_t(0)));
    EXPECT_EQ(both(110, 300), std::pair(int64_t(10), int64_t(200)));
    EXPECT_EQ(both(150, 150), std::pair(int64_t(50), int64_t(50)));
}

}  // namespace
}  // namespace tandem::parallel
