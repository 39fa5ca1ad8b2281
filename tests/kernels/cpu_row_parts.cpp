// Rows of which members take blocks of columns where there are fewer rows than members.
#include "kernels/cpu/ops/row_parts.h"

#include <algorithm>
#include <vector>

#include "kernels/cpu_case.h"

namespace tandem {
namespace {

using namespace kernels::cpu;
using gguf::DType;
using test::SmallModel;

Worker member(int index, int count) { return {.index = index, .count = count}; }

TEST(CpuRowParts, AreAllOfTheRows) {
    for (int members : {1, 2, 3, 16})
        for (int64_t tokens : {0, 1, 2, 5, 16})
            for (int64_t each : {1, 3})
                for (int64_t length : {0, 1, 256, 300, 2048}) {
                    std::vector<int> seen(size_t(tokens * each * length));
                    for (int i = 0; i < members; ++i)
                        ops::each_row_part(tokens, each, length, member(i, members),
                                           [&](int64_t row, Range columns) {
                                               for (int64_t c = columns.first; c < columns.last;
                                                    ++c)
                                                   ++seen[size_t(row * length + c)];
                                           });
                    EXPECT_EQ(std::ranges::count(seen, 1), std::ssize(seen));
                }
}

TEST(CpuRowParts, CutOneRow) {
    auto columns_of_member = [](int index, const Range* only) {
        Worker worker = member(index, 4);
        worker.only = only;
        int64_t count = 0;
        ops::each_row_part(1, 1, 1000, worker, [&](int64_t, Range part) { count += part.count(); });
        return count;
    };
    const Range first{0, 1};
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(columns_of_member(i, nullptr), i < 3 ? 256 : 1000 - 3 * 256);
        EXPECT_EQ(columns_of_member(i, &first), 1000);  // its own token
    }
}

// The team's size must not show in a result.
TEST(CpuRowParts, ChangeNoBit) {
    // More blocks than one member's, the last of which is short.
    SmallModel wide;
    const graph::Axis ffn = wide.axis("ffn", 8192 + 96), embd = wide.axis("embd", 24);
    const graph::Tensor x = wide.activation("x", {ffn});
    wide.finish(linear(glu(add(x, x), scale(x, 0.5), "silu"),
                       wide.weight("down", DType::Q4_0, {embd}, {ffn}, 0.01f)));
    SmallModel in_256;
    const graph::Axis columns = in_256.axis("columns", 2048), rows = in_256.axis("n", 24);
    in_256.finish(linear(in_256.activation("x", {columns}),
                         in_256.weight("w", DType::Q4_K, {rows}, {columns}, 0.02f)));
    for (const SmallModel* model : {&wide, &in_256}) test::expect_same_bits_of_few(*model);
}

}  // namespace
}  // namespace tandem
