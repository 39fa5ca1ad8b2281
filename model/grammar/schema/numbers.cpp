#include "model/grammar/schema/numbers.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace tandem::model::grammar::schema {

namespace {

constexpr size_t usual_digits = 16;

// One of these; empty where there is none.
std::string choice(const std::vector<std::string>& parts) {
    std::string all;
    size_t count = 0;
    for (const std::string& part : parts)
        if (!part.empty()) all += (count++ == 0 ? "" : " | ") + part;
    return count < 2 ? all : "(" + all + ")";
}

std::string digit(char first, char last) {
    if (first > last) return {};
    if (first == last) return std::string("\"") + first + "\"";
    return std::string("[") + first + "-" + last + "]";
}

std::string any_digits(size_t count) {
    if (count == 0) return {};
    return count == 1 ? "[0-9]" : "[0-9]{" + std::to_string(count) + "}";
}

// Both, or nothing where the first has no digit.
std::string then(const std::string& first, const std::string& rest) {
    if (first.empty() || rest.empty()) return first;
    return first + " " + rest;
}

// Digits, as many as those given, whose number is no smaller; and no larger.
std::string from(std::string_view digits) {
    if (digits.find_first_not_of('0') == digits.npos) return any_digits(digits.size());
    const std::string_view rest = digits.substr(1);
    if (rest.empty()) return digit(digits[0], '9');
    return choice({then(digit(digits[0], digits[0]), from(rest)),
                   then(digit(char(digits[0] + 1), '9'), any_digits(rest.size()))});
}

std::string up_to(std::string_view digits) {
    if (digits.find_first_not_of('9') == digits.npos) return any_digits(digits.size());
    const std::string_view rest = digits.substr(1);
    if (rest.empty()) return digit('0', digits[0]);
    return choice({then(digit('0', char(digits[0] - 1)), any_digits(rest.size())),
                   then(digit(digits[0], digits[0]), up_to(rest))});
}

// Between two of equally many digits.
std::string between(std::string_view least, std::string_view most) {
    if (least.empty()) return {};
    const std::string_view rest = least.substr(1), other_rest = most.substr(1);
    if (least[0] == most[0]) return then(digit(least[0], least[0]), between(rest, other_rest));
    if (rest.empty()) return digit(least[0], most[0]);
    return choice({then(digit(least[0], least[0]), from(rest)),
                   then(digit(char(least[0] + 1), char(most[0] - 1)), any_digits(rest.size())),
                   then(digit(most[0], most[0]), up_to(other_rest))});
}

// Without sign; no most: as large as may be. Empty where the least is larger than the most.
std::string magnitudes(uint64_t least, std::optional<uint64_t> most) {
    if (most && least > *most) return {};
    const std::string first = std::to_string(least);
    const size_t longest =
        most ? std::to_string(*most).size() : std::max(usual_digits, first.size() + 1);
    std::vector<std::string> parts;
    for (size_t digits = first.size(); digits <= longest; ++digits) {
        const std::string low = digits == first.size() ? first : "1" + std::string(digits - 1, '0');
        const bool is_last = most && digits == longest;
        const std::string high = is_last ? std::to_string(*most) : std::string(digits, '9');
        if (!most && digits > first.size()) {  // all lengths that are left at once
            parts.push_back("[1-9] [0-9]{" + std::to_string(digits - 1) + "," +
                            std::to_string(longest - 1) + "}");
            break;
        }
        parts.push_back(between(low, high));
    }
    return choice(parts);
}

uint64_t magnitude(int64_t value) { return value < 0 ? 0 - uint64_t(value) : uint64_t(value); }

struct Magnitude {
    uint64_t value = 0;
    bool excluded = false;
};

constexpr const char* fraction = "(\".\" [0-9]{1,16})?";
constexpr const char* zero_fraction = "(\".\" \"0\"{1,16})?";
constexpr const char* other_fraction = "\".\" \"0\"{0,14} [1-9] [0-9]{0,14}";

// The same with fractions.
std::string magnitudes(Magnitude least, std::optional<Magnitude> most) {
    if (most && least.value > most->value) return {};
    const bool is_point = most && least.value == most->value;
    if (is_point && (least.excluded || most->excluded)) return {};
    const std::string low = "\"" + std::to_string(least.value) + "\"";
    std::vector<std::string> parts;
    if (is_point) return low + " " + zero_fraction;
    parts.push_back(low + " " + (least.excluded ? other_fraction : fraction));
    std::optional<uint64_t> last;
    if (most) last = most->value - 1;
    parts.push_back(then(magnitudes(least.value + 1, last), fraction));
    if (most && !most->excluded)
        parts.push_back("\"" + std::to_string(most->value) + "\" " + zero_fraction);
    return choice(parts);
}

}  // namespace

std::string whole_numbers(std::optional<int64_t> least, std::optional<int64_t> most) {
    std::vector<std::string> parts;
    if (!least || *least < 0) {
        std::optional<uint64_t> largest;
        if (least) largest = magnitude(*least);
        const uint64_t smallest = most && *most < 0 ? magnitude(*most) : 1;
        const std::string negative = magnitudes(smallest, largest);
        if (!negative.empty()) parts.push_back("\"-\" " + negative);
    }
    if (!most || *most >= 0) {
        std::optional<uint64_t> largest;
        if (most) largest = magnitude(*most);
        parts.push_back(magnitudes(least && *least > 0 ? magnitude(*least) : 0, largest));
    }
    return choice(parts);
}

std::string numbers(std::optional<Bound> least, std::optional<Bound> most) {
    std::vector<std::string> parts;
    if (!least || least->value < 0) {
        std::optional<Magnitude> largest;
        if (least) largest = Magnitude{magnitude(least->value), least->excluded};
        // 0 has no sign.
        const bool below = most && most->value < 0;
        const Magnitude smallest =
            below ? Magnitude{magnitude(most->value), most->excluded} : Magnitude{0, true};
        const std::string negative = magnitudes(smallest, largest);
        if (!negative.empty()) parts.push_back("\"-\" " + negative);
    }
    if (!most || most->value >= 0) {
        std::optional<Magnitude> largest;
        if (most) largest = Magnitude{magnitude(most->value), most->excluded};
        const bool above = least && least->value >= 0;
        const Magnitude smallest =
            above ? Magnitude{magnitude(least->value), least->excluded} : Magnitude{};
        parts.push_back(magnitudes(smallest, largest));
    }
    return choice(parts);
}

}  // namespace tandem::model::grammar::schema
