#include "model/jinja/text_functions.h"

#include <algorithm>
#include <string>

#include "gguf/error.h"
#include "model/jinja/access.h"
#include "model/jinja/format.h"
#include "model/jinja/letters.h"
#include "model/tokenizer/utf8.h"

namespace tandem::model::jinja {
namespace {

bool is_one_of(std::string_view set, std::string_view character) {
    for (size_t at = set.find(character); at != std::string_view::npos;
         at = set.find(character, at + 1)) {
        // Not in the middle of another one.
        if ((static_cast<unsigned char>(set[at]) & 0xC0) != 0x80 || character.size() == 1)
            return true;
    }
    return false;
}

// Where Jinja's filter `title` sees another word begin; the method sees one behind all but letters.
bool ends_word(char32_t code) {
    return is_white(code) || code == '-' || code == '(' || code == '{' || code == '[' ||
           code == '<';
}

struct Range {
    size_t begin, end;
};

// Words between white space, from the front; the last one is all that is left after `most`.
std::vector<Range> words(std::string_view text, int64_t most) {
    std::vector<Range> out;
    size_t at = 0;
    const auto skip = [&](bool white) {
        while (at < text.size()) {
            const Letter letter = front_letter(text.substr(at));
            if (is_white(letter.code) != white) break;
            at += letter.bytes;
        }
    };
    for (skip(true); at < text.size(); skip(true)) {
        const size_t begin = at;
        if (most >= 0 && static_cast<int64_t>(out.size()) == most) {
            out.push_back({begin, text.size()});
            break;
        }
        skip(false);
        out.push_back({begin, at});
    }
    return out;
}

// The same from the back, in the order of the text.
std::vector<Range> words_from_back(std::string_view text, int64_t most) {
    std::vector<Range> all = words(text, -1);
    const auto count = static_cast<int64_t>(all.size());
    if (most < 0 || count <= most + 1) return all;
    const size_t merged = static_cast<size_t>(count - most);
    const Range first = {0, all[merged - 1].end};
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(merged - 1));
    all[0] = first;
    return all;
}

std::vector<Range> parts(std::string_view text, std::string_view separator, int64_t most) {
    std::vector<Range> out;
    size_t begin = 0;
    while (most < 0 || static_cast<int64_t>(out.size()) < most) {
        const size_t end = text.find(separator, begin);
        if (end == std::string_view::npos) break;
        out.push_back({begin, end});
        begin = end + separator.size();
    }
    out.push_back({begin, text.size()});
    return out;
}

std::vector<Range> parts_from_back(std::string_view text, std::string_view separator,
                                   int64_t most) {
    std::vector<Range> out;
    size_t end = text.size();
    while (most < 0 || static_cast<int64_t>(out.size()) < most) {
        const size_t begin = text.substr(0, end).rfind(separator);
        if (begin == std::string_view::npos) break;
        out.push_back({begin + separator.size(), end});
        end = begin;
    }
    out.push_back({0, end});
    std::reverse(out.begin(), out.end());
    return out;
}

}  // namespace

const String* stripped(Arena& arena, const String& string, std::optional<std::string_view> set,
                       bool front, bool back) {
    const std::string_view text = string.text.bytes();
    const auto goes = [&](std::string_view rest, Letter letter, size_t at) {
        return set ? is_one_of(*set, rest.substr(at, letter.bytes)) : is_white(letter.code);
    };
    size_t begin = 0, end = text.size();
    while (front && begin < end) {
        const Letter letter = front_letter(text.substr(begin));
        if (!goes(text, letter, begin)) break;
        begin += letter.bytes;
    }
    while (back && begin < end) {
        const Letter letter = back_letter(text.substr(begin, end - begin));
        if (!goes(text, letter, end - letter.bytes)) break;
        end -= letter.bytes;
    }
    return part(arena, string, begin, end);
}

Values split(Arena& arena, const String& string, std::optional<std::string_view> separator,
             int64_t most, bool from_back) {
    const std::string_view text = string.text.bytes();
    if (separator && separator->empty()) throw Error("the separator of a split is empty");
    const std::vector<Range> ranges =
        separator ? (from_back ? parts_from_back : parts)(text, *separator, most)
                  : (from_back ? words_from_back : words)(text, most);
    Values out;
    for (const auto& [begin, end] : ranges) out.push_back(part(arena, string, begin, end));
    return out;
}

Values split_lines(Arena& arena, const String& string, bool keep_ends) {
    Values out;
    const std::string_view text = string.text.bytes();
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = std::min(text.find_first_of("\n\r", begin), text.size());
        size_t next = std::min(end + 1, text.size());
        if (text.substr(end).starts_with("\r\n")) ++next;
        out.push_back(part(arena, string, begin, keep_ends ? next : end));
        begin = next;
    }
    return out;
}

const String* replaced(Arena& arena, const String& string, const String& old,
                       const String& replacement, int64_t most) {
    const std::string_view text = string.text.bytes(), wanted = old.text.bytes();
    Text out;
    size_t begin = 0;
    for (size_t search = 0; most != 0; --most) {
        // An empty text is found before each character and at the end.
        const size_t found = text.find(wanted, search);
        if (found == std::string_view::npos || search > text.size()) break;
        arena.hold(replacement.text.size());
        arena.spend(1);
        out.append(string.text, begin, found);
        out.append(replacement.text);
        begin = found + wanted.size();
        search = begin;
        if (!wanted.empty()) continue;
        if (begin == text.size()) break;
        search = begin + front_letter(text.substr(begin)).bytes;
    }
    if (begin == 0 && out.size() == 0) return &string;
    out.append(string.text, std::min(begin, text.size()), text.size());
    return arena.string(std::move(out));
}

const String* in_case(Arena& arena, const String& string, Case wanted) {
    std::string out;
    std::string_view text = string.text.bytes();
    arena.hold(text.size());
    out.reserve(text.size());
    bool begins = true;  // a word, or the whole
    while (!text.empty()) {
        const Letter letter = front_letter(text);
        const bool valid = letter.code != 0xFFFD;
        const bool upper = wanted == Case::Upper || (begins && wanted >= Case::Title);
        const char32_t code = upper ? to_upper(letter.code) : to_lower(letter.code);
        if (valid && code != letter.code)
            append_utf8(out, code);
        else
            out += text.substr(0, letter.bytes);
        begins = (wanted == Case::Title && !is_letter(letter.code)) ||
                 (wanted == Case::Words && ends_word(letter.code));
        text.remove_prefix(letter.bytes);
    }
    return arena.string(out, string.text.any_given());
}

const String* indented(Arena& arena, const String& string, const String& prefix, bool first,
                       bool blank) {
    Text out;
    const std::string_view text = string.text.bytes();
    for (size_t begin = 0;;) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        if (begin == 0 ? first : blank || end > begin) {
            arena.hold(prefix.text.size());
            out.append(prefix.text);
        }
        if (end == text.size()) {
            out.append(string.text, begin, end);
            return arena.string(std::move(out));
        }
        out.append(string.text, begin, end + 1);
        begin = end + 1;
    }
}

const String* joined(Arena& arena, const Values& items, const String& separator) {
    Text out;
    for (size_t at = 0; at < items.size(); ++at) {
        if (at > 0) {
            arena.hold(separator.text.size());
            out.append(separator.text);
        }
        if (const String* string = string_of(items[at])) {
            arena.hold(string->text.size());
            out.append(string->text);
        } else {
            out.append(printed(arena, items[at]));
        }
    }
    return arena.string(std::move(out));
}

const String* escaped(Arena& arena, const String& string) {
    constexpr std::string_view plain = "&<>'\"";
    constexpr std::string_view entities[] = {"&amp;", "&lt;", "&gt;", "&#39;", "&#34;"};
    Text out;
    const std::string_view text = string.text.bytes();
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find_first_of(plain, at), text.size());
        out.append(string.text, at, end);
        if (end == text.size()) break;
        arena.hold(8);
        out.append(entities[plain.find(text[end])], string.text.any_given());
        at = end + 1;
    }
    return arena.string(std::move(out));
}

}  // namespace tandem::model::jinja
