#include "model/jinja/dates.h"

#include <algorithm>
#include <array>

namespace tandem::model::jinja {
namespace {

constexpr std::array<std::string_view, 7> days = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                  "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> months = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};

template <size_t count>
std::string_view name(const std::array<std::string_view, count>& names, int at) {
    return names[static_cast<size_t>(std::clamp(at, 0, static_cast<int>(count) - 1))];
}

std::string padded(int number, size_t width, char fill = '0') {
    std::string digits = std::to_string(number);
    digits.insert(0, width - std::min(width, digits.size()), fill);
    return digits;
}

// Weeks of the year whose first day is that one (0: Sunday); days before the first are in week 0.
int week(const std::tm& time, int first_day) {
    return (time.tm_yday + 7 - (time.tm_wday + 7 - first_day) % 7) / 7;
}

std::string field(char code, const std::tm& time) {
    const int hour = time.tm_hour % 12 == 0 ? 12 : time.tm_hour % 12;
    switch (code) {
        case 'Y':
            return std::to_string(time.tm_year + 1900);
        case 'y':
            return padded(time.tm_year % 100, 2);
        case 'm':
            return padded(time.tm_mon + 1, 2);
        case 'd':
            return padded(time.tm_mday, 2);
        case 'e':
            return padded(time.tm_mday, 2, ' ');
        case 'H':
            return padded(time.tm_hour, 2);
        case 'I':
            return padded(hour, 2);
        case 'M':
            return padded(time.tm_min, 2);
        case 'S':
            return padded(time.tm_sec, 2);
        case 'f':
            return "000000";
        case 'j':
            return padded(time.tm_yday + 1, 3);
        case 'p':
            return time.tm_hour < 12 ? "AM" : "PM";
        case 'a':
            return std::string(name(days, time.tm_wday).substr(0, 3));
        case 'A':
            return std::string(name(days, time.tm_wday));
        case 'b':
        case 'h':
            return std::string(name(months, time.tm_mon).substr(0, 3));
        case 'B':
            return std::string(name(months, time.tm_mon));
        case 'w':
            return std::to_string(time.tm_wday);
        case 'u':
            return std::to_string(time.tm_wday == 0 ? 7 : time.tm_wday);
        case 'U':
            return padded(week(time, 0), 2);
        case 'W':
            return padded(week(time, 1), 2);
        case 'Z':
        case 'z':
            return "";
        case 'n':
            return "\n";
        case 't':
            return "\t";
        case '%':
            return "%";
        case 'F':
            return date_text("%Y-%m-%d", time);
        case 'T':
        case 'X':
            return date_text("%H:%M:%S", time);
        case 'R':
            return date_text("%H:%M", time);
        case 'D':
        case 'x':
            return date_text("%m/%d/%y", time);
        case 'c':
            return date_text("%a %b %e %H:%M:%S %Y", time);
        default:
            return {'%', code};
    }
}

}  // namespace

std::string date_text(std::string_view format, const std::tm& time) {
    std::string out;
    while (!format.empty()) {
        const size_t plain = std::min(format.find('%'), format.size());
        out += format.substr(0, plain);
        format.remove_prefix(plain);
        if (format.size() < 2) return out.append(format);
        // "%-d" is without zeros in front.
        const bool bare = format[1] == '-' && format.size() > 2;
        std::string text = field(format[bare ? 2 : 1], time);
        if (bare && !text.empty())
            text.erase(0, std::min(text.find_first_not_of("0 "), text.size() - 1));
        out += text;
        format.remove_prefix(bare ? 3 : 2);
    }
    return out;
}

}  // namespace tandem::model::jinja
