// Sets of tasks: the order in which they are drawn, and what files of them may hold.
#include "cli/perplexity/benchmark.h"

#include <gtest/gtest.h>

#include "cli/perplexity/draw.h"
#include "gguf/vectors.h"

namespace tandem::cli {
namespace {

using Numbers = std::vector<size_t>;
using Texts = std::vector<std::string>;

// By the first numbers of the twister, 1791095845, 4282876139, 3093770124, 4005303368, 491263,
// 550290313 ... of 2^32: floor(0.417 * 10) = 4, floor(0.997 * 9) = 8 ...
TEST(Draw, in_order) {
    EXPECT_EQ(draw_in_order(10, 10), (Numbers{4, 9, 6, 8, 0, 1, 3, 7, 2, 5}));
    EXPECT_EQ(draw_in_order(10, 3), (Numbers{4, 9, 6}));
    EXPECT_EQ(draw_in_order(5, 0), Numbers{});
    EXPECT_EQ(draw_in_order(1, 1), (Numbers{0}));
    // Where the first number is one of the few that would favour some: 17213 by itself.
    EXPECT_EQ(draw_in_order(41276, 1), (Numbers{41159}));
}

TEST(Draw, filling_gaps) {
    EXPECT_EQ(draw_filling_gaps(10, 10), (Numbers{4, 8, 5, 6, 0, 7, 1, 2, 9, 3}));
    EXPECT_EQ(draw_filling_gaps(10, 3), (Numbers{4, 8, 5}));
    // 2444.99996, which a float does not tell from 2445.
    EXPECT_EQ(draw_filling_gaps(5863, 1), (Numbers{2445}));
}

Texts texts_of(const TaskSet& set) {
    Texts texts;
    for (const Task& task : set.tasks)
        texts.insert(texts.end(), task.texts.begin(), task.texts.end());
    return texts;
}

std::string fault(const Benchmark& benchmark, const std::string& bytes, size_t count = 0) {
    return test::error_of([&] { benchmark.read("file", bytes, count); });
}

std::string hellaswag_task(const std::string& name, const std::string& right) {
    return name + "\n" + right + "\n" + name + "0\n" + name + "1\n" + name + "2\n" + name + "3\n";
}

TEST(HellaSwag, tasks) {
    const std::string bytes =
        hellaswag_task("a", "3") + hellaswag_task("b", "0\r") + hellaswag_task("c", " 1 ");
    const TaskSet all = hellaswag.read("file", bytes, 0);
    ASSERT_EQ(all.tasks.size(), 3u);
    EXPECT_EQ(all.total, 3u);
    // 0.417 * 3 = 1.25; 0.997 * 2 = 1.99; 0.
    EXPECT_EQ(texts_of(all), (Texts{"b b0", "b b1", "b b2", "b b3", "c c0", "c c1", "c c2", "c c3",
                                    "a a0", "a a1", "a a2", "a a3"}));
    EXPECT_EQ(all.tasks[0].number, 2u);
    EXPECT_EQ(all.tasks[0].right, (std::vector<bool>{true, false, false, false}));
    EXPECT_EQ(all.tasks[2].right, (std::vector<bool>{false, false, false, true}));
    EXPECT_EQ(hellaswag.read("file", bytes, 2).tasks.size(), 2u);
    EXPECT_EQ(hellaswag.read("file", bytes, 99).tasks.size(), 3u);
    // With and without the last newline.
    EXPECT_EQ(texts_of(hellaswag.read("file", bytes.substr(0, bytes.size() - 1), 0)),
              texts_of(all));
}

TEST(HellaSwag, what_is_damaged) {
    const std::string six =
        ", expected six for each task: the context, the index of the right "
        "ending, 0 to 3, and four endings";
    EXPECT_EQ(fault(hellaswag, ""), "file: has 0 lines" + six);
    EXPECT_EQ(fault(hellaswag, hellaswag_task("a", "0") + "\n"), "file: has 7 lines" + six);
    for (const char* index : {"4", "-1", "x", ""})
        EXPECT_EQ(fault(hellaswag, hellaswag_task("a", "0") + hellaswag_task("b", index), 1),
                  "file: line 8, the index of the right ending, takes a whole number from 0 to 3, "
                  "not \"" +
                      std::string(index) + "\"");
}

TEST(HellaSwag, rows) {
    auto row = [](int64_t tasks, int64_t right) {
        return hellaswag.row({.tasks = tasks, .right = right}, {}, {}, 0);
    };
    EXPECT_EQ(row(1, 0), "1\t0.00000000%\t[0.0000%, 79.3451%]\n");
    EXPECT_EQ(row(2, 1), "2\t50.00000000%\t[9.4531%, 90.5469%]\n");
    EXPECT_EQ(row(3, 3), "3\t100.00000000%\t[43.8503%, 100.0000%]\n");
    EXPECT_EQ(hellaswag.usual_count, 400u);
}

TEST(Winogrande, tasks) {
    const std::string bytes =
        "0,An egg or an ox: _ flies.,the egg,the ox,2\n"
        "\n"
        "1,\"It, or \"\"he\"\", _\",\"a, b\",c,1\r\n"
        "2,He said \"no, _ goes\" _.,x,y, 2 ";
    const TaskSet all = winogrande.read("file", bytes, 0);
    EXPECT_EQ(texts_of(all),
              (Texts{"An egg or an ox: the egg flies.", "An egg or an ox: the ox flies.",
                     "It, or \"he\", a, b", "It, or \"he\", c", "He said \"no, x goes\" _.",
                     "He said \"no, y goes\" _."}));
    EXPECT_EQ(all.tasks[0].beginnings,
              (Texts{"An egg or an ox: the egg", "An egg or an ox: the ox"}));
    EXPECT_EQ(all.tasks[0].right, (std::vector<bool>{false, true}));
    EXPECT_EQ(all.tasks[1].right, (std::vector<bool>{true, false}));
    const TaskSet some = winogrande.read("file", bytes, 2);
    ASSERT_EQ(some.tasks.size(), 2u);
    EXPECT_EQ(some.total, 3u);
    // 0.417 * 3 = 1.25, whose place the last takes; 0.997 * 2 = 1.99.
    EXPECT_EQ(some.tasks[0].number, 2u);
    EXPECT_EQ(some.tasks[1].number, 3u);
}

TEST(Winogrande, what_is_damaged) {
    const std::string good = "0,a _ b,c,d,1\n";
    EXPECT_EQ(fault(winogrande, "\n"), "file: has no tasks");
    EXPECT_EQ(fault(winogrande, good + "1,a _ b,c,1\n", 1),
              "file: line 2: has 4 fields, expected five: index,sentence,choice,choice,answer");
    EXPECT_EQ(fault(winogrande, good + "\n1,a b,c,d,1\n"),
              "file: line 3: the sentence has no _ in the place of the choices");
    EXPECT_EQ(fault(winogrande, "1,a _ b,c,d,3"),
              "file: line 1: the answer takes a whole number from 1 to 2, not \"3\"");
    EXPECT_EQ(fault(winogrande, "1,\"a _ b,c,d,1"), "file: line 1: a quote is not closed");
}

TEST(Winogrande, rows) {
    const Task task{.number = 1, .texts = {"", ""}, .right = {false, true}};
    EXPECT_EQ(winogrande.row({.tasks = 3, .right = 2}, task, {-1.25, -10.5}, 0),
              "3\t66.6667\t -1.250000  -10.500000  1  2\n");
    EXPECT_EQ(winogrande.summary({.tasks = 101, .right = 51}),
              "Final Winogrande score(101 tasks): 50.4950 +/- 4.9998\n");
}

std::string u32(uint32_t number) {
    std::string bytes;
    for (int i = 0; i < 4; ++i) bytes += char(number >> (8 * i));
    return bytes;
}

std::string text(const std::string& bytes) { return u32(uint32_t(bytes.size())) + bytes; }

std::string answers(const Texts& texts, size_t right) {
    std::string bytes = u32(uint32_t(texts.size()));
    for (const std::string& one : texts) bytes += text(one);
    for (size_t i = 0; i < texts.size(); ++i) bytes += u32(i == right);
    return bytes;
}

std::string question(const std::string& name, size_t right) {
    return text(name) + answers({"x", "yes"}, right) + answers({"z"}, 0);
}

// The tasks one behind another.
std::string choices(const Texts& tasks) {
    std::string list = u32(uint32_t(tasks.size())), bytes;
    for (const std::string& task : tasks) {
        list += u32(uint32_t(4 + 4 * tasks.size() + bytes.size()));
        bytes += task;
    }
    return list + bytes;
}

TEST(MultipleChoice, tasks) {
    const std::string bytes = choices({question("a", 0), question("b", 1), question("c", 0)});
    const TaskSet all = multiple_choice.read("file", bytes, 0);
    EXPECT_EQ(texts_of(all), (Texts{"a x", "a yes", "b x", "b yes", "c x", "c yes"}));
    EXPECT_EQ(all.tasks[1].right, (std::vector<bool>{false, true}));
    const TaskSet some = multiple_choice.read("file", bytes, 2);
    EXPECT_EQ(texts_of(some), (Texts{"b x", "b yes", "c x", "c yes"}));
    EXPECT_EQ(some.total, 3u);
    EXPECT_EQ(some.tasks[1].number, 3u);
    // All are read one behind another, also where the list of places is not filled in.
    std::string unlisted = bytes;
    for (size_t i = 4; i < 16; ++i) unlisted[i] = 0;
    EXPECT_EQ(texts_of(multiple_choice.read("file", unlisted, 3)), texts_of(all));
}

TEST(MultipleChoice, what_is_damaged) {
    const std::string whole = choices({question("a", 0), question("b", 1)});
    EXPECT_EQ(fault(multiple_choice, ""),
              "file: the list of tasks goes beyond the end of the file");
    EXPECT_EQ(fault(multiple_choice, u32(0)), "file: the list of tasks is empty");
    EXPECT_EQ(fault(multiple_choice, "a text that is none"),
              "file: the list of tasks goes beyond the end of the file");
    for (size_t size = 0; size < whole.size(); ++size)
        EXPECT_NE(fault(multiple_choice, whole.substr(0, size)), "") << size;
    EXPECT_EQ(fault(multiple_choice, whole.substr(0, whole.size() - 1)),
              "file: task 2 of 2: goes beyond the end of the file");
    std::string lost = whole;
    lost.replace(4, 8, u32(1000) + u32(1000));
    EXPECT_EQ(fault(multiple_choice, lost), "");
    EXPECT_EQ(fault(multiple_choice, lost, 1),
              "file: task 1 of 2: goes beyond the end of the file");
    EXPECT_EQ(fault(multiple_choice, choices({question("a", 0), question("", 0)})),
              "file: task 2 of 2: the question is empty");
    EXPECT_EQ(fault(multiple_choice, choices({question("a", 2)})),
              "file: task 1 of 1: 0 of 2 answers are right, expected one");
    EXPECT_EQ(fault(multiple_choice, choices({text("a") + answers({""}, 0) + answers({}, 0)})),
              "file: task 1 of 1: an answer is empty");
    EXPECT_EQ(fault(multiple_choice, choices({text("a") + u32(101)})),
              "file: task 1 of 1: has 101 answers, expected at most 100");
}

TEST(MultipleChoice, rows) {
    EXPECT_EQ(multiple_choice.row({.tasks = 3, .right = 1}, {}, {}, 0), "3\t33.33333333\n");
    EXPECT_EQ(multiple_choice.summary({.tasks = 101, .right = 51, .texts = 404}),
              "Final result: 50.4950 +/- 4.9998\nRandom chance: 25.0000 +/- 4.3301\n");
}

}  // namespace
}  // namespace tandem::cli
