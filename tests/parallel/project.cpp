// What programs hand to exchanges, and where values lie.
#include "parallel/project.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "graph/ops.h"
#include "parallel/local.h"
#include "planned.h"

namespace tandem::parallel {
namespace {

using kernels::Launch;
using kernels::Operand;
using kernels::Where;

const kernels::Kernel copy{.name = "copy"};

// Every send lies dense in Sending memory; what does not come to lie there by itself is copied by
// the last launches before the exchange. Gives the number of copies.
size_t expect_sends(const Program& program) {
    size_t all = 0;
    std::vector<Operand> copied;  // since the last exchange
    for (const auto& item : program.items) {
        if (auto* segment = std::get_if<Segment>(&item)) {
            for (const Launch& launch : segment->launches) {
                if (launch.kernel == &copy)
                    copied.push_back(launch.operations[0].output);
                else
                    EXPECT_TRUE(copied.empty()) << "a launch after copies";
            }
            continue;
        }
        const Meeting& meeting = std::get<Meeting>(item);
        for (const Operand& send : meeting.sends) {
            EXPECT_EQ(send.where, Where::Sending);
            EXPECT_EQ(send.view.strides, dense_strides(send.view.extents));
        }
        for (const Operand& to : copied)
            EXPECT_TRUE(
                std::any_of(meeting.sends.begin(), meeting.sends.end(), [&](const Operand& send) {
                    return send.offset == to.offset && send.view.extents == to.view.extents;
                }));
        all += copied.size();
        copied.clear();
    }
    EXPECT_TRUE(copied.empty()) << "copies for no exchange";
    return all;
}

size_t expect_sends(const Programs& programs) {
    size_t copies = 0;
    for (const Program& program : programs.body) copies += expect_sends(program);
    for (const Program& program : programs.head) copies += expect_sends(program);
    return copies;
}

TEST(Project, sends_lie_dense_in_sending_memory) {
    for (const char* name : {"llama-yarn-bf16", "qwen3moe", "kimi-linear", "deepseek2-lite"})
        for (const char* mode : {"layer", "tensor", "graph"}) {
            test::Planned planned =
                test::plan_fixture(name, test::equal_devices(3), {.mode = mode});
            for (int device : {0, 1, 2})
                expect_sends(make_programs(planned.placed, device, 8, {}, &copy));
        }
}

// The sum of two branches, of which the second device has one: its addend lies under another name.
TEST(Project, sends_that_lie_elsewhere_are_copied) {
    auto graph = std::make_unique<graph::Graph>();
    graph::Axis embd = graph->axis("embd", 4), vocab = graph->axis("vocab", 3);
    graph::Axis one = graph->axis("a.ffn", 5), two = graph->axis("b.ffn", 1);
    auto weight = [&](const char* name, graph::Shape rows, graph::Shape columns) {
        return graph->weight(name, gguf::DType::F32, rows, columns, {.tensor = name});
    };
    graph::Tensor x = embed(weight("table", {vocab}, {embd}), graph->input("ids"));
    graph::Tensor a =
        linear(linear(x, weight("a.up", {one}, {embd})), weight("a.down", {embd}, {one}));
    graph::Tensor b =
        linear(linear(x, weight("b.up", {two}, {embd})), weight("b.down", {embd}, {two}));
    graph->begin_layer(0);
    graph::Tensor y = rms_norm(add(a, b), weight("norm", {embd}, {}), 1e-6);
    graph->begin_head();
    graph->set_result(select_rows(y, graph->input("rows")));
    test::Planned planned =
        test::plan_on(std::move(graph), test::equal_devices(2), {.mode = "tensor"});
    EXPECT_EQ(expect_sends(make_programs(planned.placed, 1, 1, {}, &copy)), 1u);
    // On a device that only a table knows, the copies are launches without a kernel.
    EXPECT_EQ(expect_sends(make_programs(planned.placed, 1, 1, {}, nullptr)), 0u);
}

// What lies where while a program runs: whoever reads finds what was written for it.
class Contents {
  public:
    void run(const Program& program) {
        for (const auto& item : program.items) {
            if (auto* meeting = std::get_if<Meeting>(&item)) {
                for (const Operand& from : meeting->sends) read(from);
                for (const Operand& to : meeting->receives) write(to);
                continue;
            }
            for (const Launch& launch : std::get<Segment>(item).launches) {
                for (const auto& operation : launch.operations)
                    for (const Operand& input : operation.inputs) read(input);
                for (const auto& operation : launch.operations) {
                    write(operation.output);
                    for (const Operand& input : operation.inputs)
                        replaced_ += input.where == Where::Arena &&
                                     operation.output.where == Where::Arena &&
                                     input.offset == operation.output.offset;
                }
                write(launch.given);
            }
        }
    }
    int replaced() const { return replaced_; }

  private:
    struct Range {
        Where where;
        int64_t begin, end;
        bool overlaps(const Range& other) const {
            return where == other.where && begin < other.end && other.begin < end;
        }
    };
    static Range range(const Operand& operand) {
        int64_t last = 0;
        for (size_t i = 0; i < operand.view.extents.size(); ++i)
            last += (operand.view.extents[i] - 1) * operand.view.strides[i];
        return {operand.where, operand.offset, operand.offset + (last + 1) * 4};
    }
    static bool in_memory(const Operand& operand) {
        return operand.where == Where::Arena || operand.where == Where::Sending ||
               operand.where == Where::Landing;
    }
    void write(const Operand& operand) {
        if (!in_memory(operand)) return;
        std::erase_if(written_,
                      [&](const auto& each) { return each.first.overlaps(range(operand)); });
        written_.push_back({range(operand), operand.value});
    }
    void read(const Operand& operand) const {
        if (!in_memory(operand)) return;
        for (const auto& [at, value] : written_)
            if (at.overlaps(range(operand)) && value == operand.value) return;
        ADD_FAILURE() << "value " << operand.value << " was overwritten";
    }

    std::vector<std::pair<Range, int>> written_;
    int replaced_ = 0;
};

TEST(Project, results_lie_over_what_nobody_reads_any_more) {
    const kernels::Kernel any{
        .name = "any", .claim = [](auto) { return size_t(1); }, .in_place = 2};
    for (const char* name :
         {"llama-yarn-bf16", "qwen3moe", "kimi-linear", "deepseek2-lite", "gemma3"})
        for (const char* mode : {"none", "layer", "tensor", "graph"}) {
            test::Planned planned =
                test::plan_fixture(name, test::equal_devices(3), {.mode = mode});
            for (int device : {0, 1, 2}) {
                Programs programs = make_programs(planned.placed, device, 8, {&any, 1}, &copy);
                Contents contents;
                contents.run(programs.body.back());
                contents.run(programs.head.back());
                EXPECT_TRUE(contents.replaced() > 0 || mode != std::string_view("tensor"));
            }
        }
}

const kernels::Kernel preparer{.name = "preparer"};
const kernels::Form form{"form", [](const graph::View& view) { return view.elements() * 4; },
                         &preparer};

// Products read a form, which norms give and other launches do not: it is prepared for the rest
// alone, and a norm that nobody else reads has no other result.
TEST(Project, launches_give_forms) {
    const kernels::Kernel kernels[] = {
        {.name = "norm",
         .claim = [](auto ahead) { return size_t(ahead[0].node->op->name == "rms_norm"); },
         .gives = [](auto) -> const kernels::Form* { return &form; }},
        {.name = "linear",
         .claim = [](auto ahead) { return size_t(ahead[0].node->op->name == "linear"); },
         .form = [](const auto&, size_t input) { return input == 0 ? &form : nullptr; }},
        {.name = "any", .claim = [](auto) { return size_t(1); }}};
    for (const char* name : {"llama-yarn-bf16", "qwen3moe", "gemma3"})
        for (const char* mode : {"none", "layer", "tensor"}) {
            test::Planned planned =
                test::plan_fixture(name, test::equal_devices(2), {.mode = mode});
            const Programs programs = make_programs(planned.placed, 0, 8, kernels, &copy);
            size_t given = 0, alone = 0, prepared = 0;
            std::set<int> normed;
            for (const auto& item : programs.body.back().items) {
                if (!std::holds_alternative<Segment>(item)) continue;
                for (const Launch& launch : std::get<Segment>(item).launches) {
                    const kernels::Operation& last = launch.operations.back();
                    if (launch.kernel == &kernels[0]) normed.insert(last.output.value);
                    given += bool(launch.given);
                    alone += launch.given && !last.output;
                    if (launch.kernel != &preparer) continue;
                    ++prepared;
                    EXPECT_FALSE(normed.count(last.inputs[0].value)) << name << " " << mode;
                }
            }
            EXPECT_GT(given, 0u);
            EXPECT_GT(prepared, 0u);  // what attention gives
            // Routers read norms as they are.
            EXPECT_GT(alone, 0u);
            EXPECT_TRUE(alone == given || name != std::string_view("llama-yarn-bf16"));
            Contents contents;
            contents.run(programs.body.back());
            contents.run(programs.head.back());
        }
}

TEST(Project, the_smallest_program_with_room_is_taken) {
    std::vector<Program> programs(3);
    programs[0].bucket = 1, programs[1].bucket = 8, programs[2].bucket = 20;
    for (const auto& [count, number] : {std::pair{1, 0u}, {2, 1u}, {8, 1u}, {9, 2u}, {20, 2u}})
        EXPECT_EQ(fitting(programs, count), number) << count;
    EXPECT_THROW((void)fitting(programs, 21), std::logic_error);
}

}  // namespace
}  // namespace tandem::parallel
