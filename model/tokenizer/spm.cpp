#include "model/tokenizer/spm.h"

#include <bit>
#include <string>

#include "model/tokenizer/spaces.h"
#include "model/tokenizer/utf8.h"

namespace tandem::model {
namespace {

// Special tokens and bytes are not what text merges to.
std::optional<int32_t> find_text(const Vocabulary& vocabulary, std::string_view text) {
    const auto id = vocabulary.find(text);
    return id && is_text(vocabulary[*id].type) ? id : std::nullopt;
}

// The order of scores, from high to low, as the order of unsigned numbers.
uint32_t rank_of(float score) {
    const auto bits = std::bit_cast<uint32_t>(score + 0.0F);  // one zero, not two
    return bits & 0x80000000 ? bits : 0x7FFFFFFF - bits;
}

}  // namespace

Spm::Spm(const Vocabulary& vocabulary, bool space_prefix, std::optional<int32_t> unknown)
    : space_prefix_(space_prefix), unknown_(unknown) {
    for (size_t byte = 0; byte < byte_tokens_.size(); ++byte) {
        const auto value = static_cast<uint8_t>(byte);
        byte_tokens_[byte] = vocabulary.find_byte(value);
        if (!byte_tokens_[byte]) {
            byte_tokens_[byte] = find_text(vocabulary, std::string(1, static_cast<char>(value)));
        }
    }
    for (int32_t id = 0; id < vocabulary.size(); ++id) {
        if (!is_text(vocabulary[id].type)) continue;
        const std::string& text = vocabulary[id].text;
        for (size_t at = text.find(escaped_space, 1); at != std::string::npos;
             at = text.find(escaped_space, at + 1)) {
            joins_space_[static_cast<uint8_t>(text[at - 1])] = true;
        }
    }
}

size_t Spm::word_end(std::string_view text, size_t begin) const {
    for (size_t at = text.find(escaped_space, begin + 1); at != std::string_view::npos;
         at = text.find(escaped_space, at + 1)) {
        if (!joins_space_[static_cast<uint8_t>(text[at - 1])]) return at;
    }
    return text.size();
}

void Spm::encode(const Vocabulary& vocabulary, std::string_view text,
                 std::vector<int32_t>& ids) const {
    if (text.empty()) return;
    const std::string escaped =
        (space_prefix_ ? std::string(escaped_space) : "") + escape_spaces(text);
    const std::string_view all = escaped;
    const FindJoint find = [&](const Symbol& left, const Symbol& right) -> std::optional<Joint> {
        const auto id = find_text(vocabulary, all.substr(left.begin, left.length + right.length));
        if (!id) return std::nullopt;
        return Joint{rank_of(vocabulary[*id].score), *id};
    };
    std::vector<Symbol> symbols;
    for (size_t begin = 0; begin < all.size();) {
        const size_t end = word_end(all, begin);
        symbols.clear();
        for (size_t at = begin; at < end; at += symbols.back().length) {
            const std::string_view character = front_character(all.substr(at));
            symbols.push_back(
                {at, character.size(), find_text(vocabulary, character).value_or(-1)});
        }
        merge(symbols, find);
        for (const Symbol& symbol : symbols) {
            if (symbol.id >= 0) {
                ids.push_back(symbol.id);
            } else {
                add_bytes(all.substr(symbol.begin, symbol.length), ids);
            }
        }
        begin = end;
    }
}

void Spm::add_bytes(std::string_view bytes, std::vector<int32_t>& ids) const {
    const size_t before = ids.size();
    for (const char byte : bytes) {
        const auto id = byte_tokens_[static_cast<uint8_t>(byte)];
        if (!id) {
            ids.resize(before);
            if (unknown_) ids.push_back(*unknown_);
            return;
        }
        ids.push_back(*id);
    }
}

}  // namespace tandem::model
