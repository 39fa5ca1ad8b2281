#include "gguf/fault.h"

#include <charconv>

namespace tandem::gguf {

namespace {

std::string hexadecimal(uint64_t value) {
    char digits[16];
    const auto end = std::to_chars(digits, digits + sizeof digits, value, 16).ptr;
    return {digits, end};
}

std::string escaped(char byte) {
    if (byte == '\n') return "\\n";
    if (byte == '\t') return "\\t";
    const std::string digits = hexadecimal(uint8_t(byte));
    return (digits.size() == 1 ? "\\x0" : "\\x") + digits;
}

}  // namespace

Error fault(std::string_view path, std::string_view category, const std::string& text,
            std::optional<uint64_t> offset) {
    std::string line;
    for (char byte : path) line += is_control(byte) ? escaped(byte) : std::string(1, byte);
    line += ": ";
    line += category;
    line += ": " + text;
    if (offset) line += " (file offset 0x" + hexadecimal(*offset) + ")";
    return Error(line);
}

std::string in_quotes(std::string_view text, size_t most_bytes) {
    std::string line = "\"";
    for (char byte : text.substr(0, most_bytes)) {
        if (is_control(byte) || uint8_t(byte) >= 0x80) {
            line += escaped(byte);
        } else {
            if (byte == '"' || byte == '\\') line += '\\';
            line += byte;
        }
    }
    return line + (text.size() > most_bytes ? "...\"" : "\"");
}

}  // namespace tandem::gguf
