// Files of texts and states: what is written is read, and whatever else a file holds is told.
#include "cli/state_file.h"

#include <gtest/gtest.h>

#include <cstring>

#include "cli/checksum.h"
#include "gguf/folder.h"
#include "gguf/vectors.h"
#include "random.h"

namespace tandem::test {

namespace {

using cli::Checksum;
using cli::StateFile;
using cli::StateHead;
using gguf::DType;
using Bytes = std::vector<std::byte>;

const StateHead head{.model = 0x123456789abcdef0,
                     .weights = 7,
                     .name = "of a model",
                     .tokens = {1, 5, 0, 77},
                     .states = {{"blk.0.k_cache", DType::Q8_0, 340},
                                {"blk.0.v_cache", DType::F16, 13},
                                {"blk.1.delta_state", DType::F32, 0}}};

std::vector<Bytes> states() {
    Random random(1);
    std::vector<Bytes> all;
    for (const StateHead::State& state : head.states)
        all.push_back(random.bytes(int64_t(state.bytes)));
    return all;
}

std::filesystem::path write(const Folder& folder) {
    const std::filesystem::path path = folder / "state";
    cli::OutputFile file(path.string(), "the state");
    write_state_file(file, head, [all = states()](size_t i, std::span<std::byte> to) {
        std::ranges::copy(all[i], to.begin());
    });
    return path;
}

Bytes bytes_of(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

std::string error_of_file(const Folder& folder, const Bytes& bytes) {
    const std::filesystem::path path = folder.write("other", bytes);
    std::string error = error_of([&] { StateFile(path).check_states(); });
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    const std::string name = path.string() + ": ";
    return error.starts_with(name) ? error.substr(name.size()) : error;
}

void put(Bytes& bytes, size_t at, uint64_t number) {
    std::memcpy(bytes.data() + at, &number, sizeof number);
}

}  // namespace

TEST(checksum, is_of_all_bytes_however_they_come) {
    const Bytes bytes = Random(3).bytes(61);
    Checksum whole;
    whole.add(bytes);
    for (size_t size : {1, 3, 8, 13, 60}) {
        Checksum parts;
        for (size_t at = 0; at < bytes.size(); at += size)
            parts.add(std::span(bytes).subspan(at, std::min(size, bytes.size() - at)));
        EXPECT_EQ(parts.value(), whole.value()) << size;
    }
    for (size_t i = 0; i < bytes.size(); ++i) {
        Bytes other = bytes;
        other[i] ^= std::byte{0x80};
        Checksum changed;
        changed.add(other);
        EXPECT_NE(changed.value(), whole.value()) << i;
    }
    Checksum longer = whole;
    longer.add(Bytes(1));
    EXPECT_NE(longer.value(), whole.value());
}

TEST(state_file, has_what_was_written) {
    const Folder folder;
    const StateFile file(write(folder));
    EXPECT_EQ(file.head().model, head.model);
    EXPECT_EQ(file.head().weights, head.weights);
    EXPECT_EQ(file.head().name, head.name);
    EXPECT_EQ(file.head().tokens, head.tokens);
    EXPECT_EQ(file.head().states, head.states);
    file.check_states();
    const std::vector<Bytes> all = states();
    for (size_t i = 0; i < all.size(); ++i)
        EXPECT_EQ(Bytes(file.state(i).begin(), file.state(i).end()), all[i]);
}

TEST(state_file, cuts_and_changed_bytes_are_errors) {
    const Folder folder;
    const Bytes bytes = bytes_of(write(folder));
    for (size_t size = 0; size < bytes.size(); size += 7)
        EXPECT_NE(error_of_file(folder, {bytes.begin(), bytes.begin() + int64_t(size)}), "")
            << size;
    for (size_t i = 0; i < bytes.size(); i += 3) {
        Bytes changed = bytes;
        changed[i] ^= std::byte{0x80};
        EXPECT_NE(error_of_file(folder, changed), "") << i;
    }
    Bytes longer = bytes;
    longer.emplace_back();
    EXPECT_EQ(error_of_file(folder, longer),
              "E_TRUNCATED: the file has " + std::to_string(longer.size()) + " bytes, and had " +
                  std::to_string(bytes.size()) +
                  "; remove it to have a new one (file offset 0x18)");
}

// No count asks for memory that the file does not have.
TEST(state_file, counts_are_not_believed) {
    const Folder folder;
    const Bytes bytes = bytes_of(write(folder));
    const size_t name = 16 + 4 * 8, tokens = name + 8 + head.name.size(),
                 list = tokens + 8 + head.tokens.size() * 4,
                 size = list + 8 + 8 + head.states[0].name.size() + 8;
    for (uint64_t number : {uint64_t(1) << 20, uint64_t(1) << 61, ~uint64_t(0)}) {
        for (const auto& [at, error] : {std::pair{name, "E_"},
                                        {tokens, "E_COUNT: there are "},
                                        {list, "E_COUNT: there are "},
                                        {size, "E_VALUE: the file is damaged"}}) {
            Bytes changed = bytes;
            put(changed, at, number);
            EXPECT_TRUE(error_of_file(folder, changed).starts_with(error))
                << at << " " << error_of_file(folder, changed);
        }
    }
}

TEST(state_file, says_what_else_a_file_is) {
    const Folder folder;
    Bytes bytes = bytes_of(write(folder));
    put(bytes, 16, 2);
    EXPECT_EQ(error_of_file(folder, bytes),
              "E_VERSION: the version of the file is 2, expected 1; remove it to have a new one "
              "(file offset 0x10)");
    bytes.assign(100, std::byte{'x'});
    EXPECT_EQ(error_of_file(folder, bytes),
              "E_MAGIC: the file is none of --prompt-cache; name another one (file offset 0x0)");
    EXPECT_NE(error_of([&] { StateFile(folder / "nothing"); }), "");
}

}  // namespace tandem::test
