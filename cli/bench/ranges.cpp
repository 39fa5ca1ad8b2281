#include "cli/bench/ranges.h"

#include <limits>

#include "cli/options.h"
#include "gguf/error.h"

namespace tandem::cli {

namespace {

constexpr int64_t most = std::numeric_limits<int32_t>::max();

// The longest list that is believed.
constexpr size_t longest = 10000;

[[noreturn]] void fail(std::string_view text, const std::string& what) {
    throw Error(what + " takes numbers and ranges, such as 128,512 or 1-4 or 64-256+64 or " +
                "128-1024*2, not \"" + std::string(text) + "\"");
}

void add_range(std::string_view text, const std::string& what, int64_t least,
               std::vector<int64_t>& numbers) {
    const size_t dash = text.find('-', 1);  // a number may begin with one
    auto number = [&](std::string_view digits) {
        if (digits.empty() || digits.find_first_not_of("0123456789", 1) != digits.npos)
            fail(text, what);
        return to_integer(digits, what, least, most);
    };
    if (dash == text.npos) return numbers.push_back(number(text));
    const size_t sign = text.find_first_of("+*", dash);
    const int64_t first = number(text.substr(0, dash));
    const int64_t last = number(text.substr(dash + 1, sign - dash - 1));
    const bool multiply = sign != text.npos && text[sign] == '*';
    const int64_t step =
        sign == text.npos ? 1 : to_integer(text.substr(sign + 1), what + "'s step", 1, most);
    // A range must come to an end.
    if (last < first || (multiply && (step < 2 || first < 1))) fail(text, what);
    for (int64_t next = first; next <= last; next = multiply ? next * step : next + step) {
        if (numbers.size() == longest)
            throw Error(what + " takes " + std::to_string(longest) + " numbers at most, and \"" +
                        std::string(text) + "\" has more");
        numbers.push_back(next);
    }
}

}  // namespace

std::vector<int64_t> to_numbers(std::string_view text, const std::string& what, int64_t least) {
    std::vector<int64_t> numbers;
    for (const std::string& range : split(text)) {
        if (range.empty()) fail(text, what);
        add_range(range, what, least, numbers);
    }
    return numbers;
}

}  // namespace tandem::cli
