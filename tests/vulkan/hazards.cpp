// Which launches wait for which, by the memory that they touch.
#include "kernels/vulkan/hazards.h"

#include <gtest/gtest.h>

namespace tandem::kernels::vulkan {
namespace {

using Extents = std::vector<int64_t>;

Operand at(Where where, int64_t offset, Extents extents = {16}, Extents strides = {1}) {
    Operand operand{.where = where, .offset = offset};
    operand.view.extents = std::move(extents);
    operand.view.strides = std::move(strides);
    return operand;
}

Operand state(int value) { return {.where = Where::State, .value = value}; }

// That of a kernel which reads everything as it is.
const Kernel plain;

Launch launch(std::vector<Operand> inputs, Operand output) {
    return {.kernel = &plain,
            .operations = {{.inputs = std::move(inputs), .output = std::move(output)}}};
}

using Waves = std::vector<std::vector<size_t>>;

// True where the second must wait for the first.
bool waits(const Launch& first, const Launch& second) {
    return waves_of(std::vector{first, second}).size() == 2;
}

constexpr Where arena = Where::Arena;

TEST(Hazards, readers_wait_for_writers_and_writers_for_both) {
    const Launch writer = launch({at(arena, 0)}, at(arena, 64));
    EXPECT_TRUE(waits(writer, launch({at(arena, 64)}, at(arena, 128))));
    EXPECT_TRUE(waits(writer, launch({at(arena, 128)}, at(arena, 64))));
    EXPECT_TRUE(waits(writer, launch({at(arena, 128)}, at(arena, 0))));
    EXPECT_FALSE(waits(writer, launch({at(arena, 0)}, at(arena, 128))));
}

TEST(Hazards, are_counted_in_bytes) {
    const Launch writer = launch({}, at(arena, 256));  // 256 ... 320
    for (auto [begin, expected] :
         {std::pair{192, false}, {196, true}, {252, true}, {316, true}, {320, false}})
        EXPECT_EQ(waits(writer, launch({at(arena, begin)}, at(arena, 1024))), expected) << begin;
}

// From the first element to the last, whatever lies between.
TEST(Hazards, of_strided_views_reach_to_their_last_element) {
    const Launch writer = launch({}, at(arena, 0, {3, 4}, {100, 1}));  // 0 ... 816
    EXPECT_TRUE(waits(writer, launch({at(arena, 812)}, at(arena, 4096))));
    EXPECT_TRUE(waits(writer, launch({at(arena, 96)}, at(arena, 4096))));
    EXPECT_FALSE(waits(writer, launch({at(arena, 816)}, at(arena, 4096))));
}

TEST(Hazards, are_of_one_kind_of_memory) {
    const Where all[] = {Where::Arena, Where::Sending, Where::Landing};
    for (Where written : all)
        for (Where read : all)
            EXPECT_EQ(waits(launch({}, at(written, 0)), launch({at(read, 0)}, at(arena, 1024))),
                      written == read);
}

TEST(Hazards, weights_and_inputs_have_none) {
    for (Where where : {Where::Weight, Where::Input, Where::Nowhere})
        EXPECT_FALSE(
            waits(launch({at(where, 0)}, at(arena, 0)), launch({at(where, 0)}, at(arena, 64))));
}

// An op that has a state writes it, whatever its operands say.
TEST(Hazards, states_are_taken_in_turns) {
    const Launch first = launch({at(arena, 0), state(3)}, at(arena, 64));
    EXPECT_TRUE(waits(first, launch({at(arena, 0), state(3)}, at(arena, 128))));
    EXPECT_FALSE(waits(first, launch({at(arena, 0), state(4)}, at(arena, 128))));
}

TEST(Hazards, scratch_memory_is_written) {
    Launch worker = launch({at(arena, 0)}, at(arena, 64));
    worker.scratch_offset = 512;
    worker.scratch_bytes = 100;
    EXPECT_TRUE(waits(worker, launch({}, at(arena, 608))));
    EXPECT_FALSE(waits(worker, launch({}, at(arena, 612))));
    EXPECT_TRUE(waits(launch({at(arena, 576)}, at(arena, 1024)), worker));
}

// What a chain of operations leaves inside is nowhere; what it reads and gives counts.
TEST(Hazards, all_operations_of_a_launch_count) {
    Launch chain = launch({at(arena, 0)}, {});
    chain.operations.push_back({.inputs = {{}, at(arena, 64)}, .output = at(arena, 128)});
    EXPECT_TRUE(waits(launch({}, at(arena, 64)), chain));
    EXPECT_TRUE(waits(chain, launch({}, at(arena, 64))));
    EXPECT_TRUE(waits(chain, launch({at(arena, 128)}, at(arena, 1024))));
}

// A form of a strided value is prepared once, and read at once by all who want it.
TEST(Hazards, prepared_forms_are_written_once) {
    const Operand value = at(arena, 0, {4, 16}, {64, 1}), form = at(arena, 4096, {4, 16}, {64, 1});
    EXPECT_EQ(waves_of(std::vector{launch({value}, form), launch({form}, at(arena, 8192)),
                                   launch({form}, at(arena, 8256))}),
              (Waves{{0}, {1, 2}}));
}

// As are those that a launch gives beside its result.
TEST(Hazards, given_forms_are_written) {
    static const Form form{.bytes = [](const graph::View&) { return int64_t(40); }};
    const Kernel giver{.gives = [](auto) -> const Form* { return &form; }};
    Launch both = launch({at(arena, 0)}, at(arena, 64));
    both.kernel = &giver;
    both.given = at(arena, 512);
    EXPECT_TRUE(waits(both, launch({at(arena, 548)}, at(arena, 1024))));
    EXPECT_FALSE(waits(both, launch({at(arena, 552)}, at(arena, 1024))));
    EXPECT_TRUE(waits(both, launch({at(arena, 64)}, at(arena, 1024))));
    both.operations[0].output = {};
    EXPECT_FALSE(waits(both, launch({at(arena, 64)}, at(arena, 1024))));
}

// A wait is for all before it, so that who waits for several of them waits once.
TEST(Hazards, make_waves) {
    EXPECT_EQ(waves_of(std::vector{launch({}, at(arena, 0)), launch({}, at(arena, 64)),
                                   launch({at(arena, 0)}, at(arena, 128)),
                                   launch({at(arena, 64)}, at(arena, 192)),
                                   launch({at(arena, 128)}, at(arena, 256))}),
              (Waves{{0, 1}, {2, 3}, {4}}));
    EXPECT_TRUE(waves_of({}).empty());
}

// Chains that have nothing to do with each other go side by side, whatever their order was.
TEST(Hazards, let_launches_come_forward) {
    EXPECT_EQ(
        waves_of(std::vector{launch({}, at(arena, 0)), launch({at(arena, 0)}, at(arena, 64)),
                             launch({}, at(arena, 128)), launch({at(arena, 128)}, at(arena, 192))}),
        (Waves{{0, 2}, {1, 3}}));
}

// But for those that reuse memory which others still have to read.
TEST(Hazards, keep_values_until_they_were_read) {
    EXPECT_EQ(
        waves_of(std::vector{launch({}, at(arena, 0)), launch({at(arena, 0)}, at(arena, 64)),
                             launch({}, at(arena, 0)), launch({at(arena, 0)}, at(arena, 64))}),
        (Waves{{0}, {1}, {2}, {3}}));
}

}  // namespace
}  // namespace tandem::kernels::vulkan
