// Questions with one right answer, such as those of MMLU, ARC and TruthfulQA.
//
// The file, little-endian: u32 number of tasks; u32 place of each task, from the beginning; the
// tasks, each a question, answers of which one is right, and answers of which several are (not used
// here). A text is its u32 length and its bytes; answers are their u32 number, their texts, and for
// each an i32, 1 where it is right.
#include <algorithm>
#include <span>

#include "cli/format.h"
#include "cli/perplexity/benchmark.h"
#include "cli/perplexity/draw.h"
#include "gguf/error.h"

namespace tandem::cli {

namespace {

constexpr uint32_t most_answers = 100;  // more are a damaged file

// What is read from a place on. Throws Error without the name of the file.
class Reader {
  public:
    Reader(std::string_view bytes, size_t at) : bytes_(bytes.substr(std::min(at, bytes.size()))) {}

    uint32_t number() {
        uint32_t value = 0;
        const std::string_view digits = take(sizeof value);
        for (size_t i = 0; i < sizeof value; ++i)
            value |= uint32_t(static_cast<unsigned char>(digits[i])) << (8 * i);
        return value;
    }

    std::string_view text() { return take(number()); }

    struct Answers {
        std::vector<std::string_view> texts;
        std::vector<bool> right;
    };
    Answers answers() {
        const uint32_t count = number();
        if (count > most_answers)
            throw Error("has " + std::to_string(count) + " answers, expected at most " +
                        std::to_string(most_answers));
        Answers answers;
        for (uint32_t i = 0; i < count; ++i) answers.texts.push_back(text());
        for (uint32_t i = 0; i < count; ++i) answers.right.push_back(number() == 1);
        return answers;
    }

    Task task(size_t number) {
        const std::string_view question = text();
        const Answers one = answers();
        answers();
        if (question.empty()) throw Error("the question is empty");
        if (std::ranges::count(one.right, true) != 1)
            throw Error(std::to_string(std::ranges::count(one.right, true)) + " of " +
                        std::to_string(one.right.size()) + " answers are right, expected one");
        Task task{.number = number, .texts = {}, .right = one.right};
        for (const std::string_view answer : one.texts) {
            if (answer.empty()) throw Error("an answer is empty");
            task.texts.push_back(std::string(question) + " " + std::string(answer));
        }
        return task;
    }

    size_t left() const { return bytes_.size(); }

    std::string_view take(size_t count) {
        if (count > bytes_.size()) throw Error("goes beyond the end of the file");
        const std::string_view taken = bytes_.substr(0, count);
        bytes_.remove_prefix(count);
        return taken;
    }

  private:
    std::string_view bytes_;  // what is left
};

// The places of the tasks.
std::vector<uint32_t> read_places(Reader& reader) {
    const uint32_t total = reader.number();
    if (total == 0) throw Error("is empty");
    Reader places(reader.take(size_t(total) * sizeof(uint32_t)), 0);
    std::vector<uint32_t> all;
    for (uint32_t i = 0; i < total; ++i) all.push_back(places.number());
    return all;
}

TaskSet read(const std::string& path, std::string_view bytes, size_t count) {
    Reader reader(bytes, 0);
    std::string where = ": the list of tasks ";
    try {
        const std::vector<uint32_t> places = read_places(reader);
        TaskSet set{.tasks = {}, .total = places.size()};
        auto take = [&](Reader& from, size_t i) {
            where =
                ": task " + std::to_string(i + 1) + " of " + std::to_string(places.size()) + ": ";
            set.tasks.push_back(from.task(i + 1));
        };
        // Places are only for tasks that are picked out, so that files with none are read, too.
        if (count == 0 || count >= places.size()) {
            for (size_t i = 0; i < places.size(); ++i) take(reader, i);
        } else {
            size_t taken = 0;
            for (size_t i : draw_filling_gaps(places.size(), count)) {
                Reader own(bytes, places[i]);
                const size_t before = own.left();
                take(own, i);
                taken += before - own.left();
                if (taken > bytes.size()) throw Error("lies where another one does");
            }
        }
        return set;
    } catch (const Error& error) {
        throw Error(path + where + error.what());
    }
}

std::string row(const Tally& tally, const Task&, const std::vector<double>&, size_t) {
    return format("%d\t%.8lf\n", int(tally.tasks), 100 * tally.share());
}

std::string summary(const Tally& tally) {
    const double chance = double(tally.tasks) / double(tally.texts);
    return format("Final result: %.4f +/- %.4f\n", 100 * tally.share(),
                  100 * tally.error(tally.share())) +
           format("Random chance: %.4f +/- %.4f\n", 100 * chance, 100 * tally.error(chance));
}

}  // namespace

const Benchmark multiple_choice{.name = "multiple-choice",
                                .read = read,
                                .heading = "task\tacc_norm\n",
                                .row = row,
                                .summary = summary};

}  // namespace tandem::cli
