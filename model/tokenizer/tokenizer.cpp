#include "model/tokenizer/tokenizer.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "model/tokenizer/byte_alphabet.h"
#include "model/tokenizer/spaces.h"

namespace tandem::model {
namespace {

// The byte of <0xHH>; other texts are taken for the byte itself.
std::string byte_piece(std::string_view text) {
    unsigned value = 0;
    if (text.size() == 6 && text.starts_with("<0x")) {
        const auto [end, error] = std::from_chars(&text[3], &text[5], value, 16);
        if (end == &text[5] && error == std::errc()) return {static_cast<char>(value)};
    }
    return std::string(text);
}

std::string piece_of(const Token& token, const Conventions& conventions) {
    switch (token.type) {
        case TokenType::Undefined:
        case TokenType::Unused:
            return {};
        case TokenType::Unknown:
        case TokenType::Control:
        case TokenType::UserDefined:
            return token.text;
        case TokenType::Byte:
            return byte_piece(token.text);
        case TokenType::Normal:
            break;
    }
    if (conventions.byte_level) return from_images(token.text);
    return conventions.escape_spaces ? unescape_spaces(token.text) : token.text;
}

}  // namespace

Tokenizer::Tokenizer(const gguf::Metadata& metadata, const std::string& file)
    : scheme_(read_scheme(metadata, file)),
      special_tokens_(scheme_.vocabulary, scheme_.swallowing, scheme_.ids.shown),
      size_(scheme_.vocabulary.size()) {
    if (size_ == 0) {
        const std::string architecture = metadata.text("general.architecture").value_or("");
        const int64_t size = metadata.integer(architecture + ".vocab_size").value_or(0);
        size_ =
            static_cast<int32_t>(std::clamp<int64_t>(size, 0, std::numeric_limits<int32_t>::max()));
    }
    make_pieces();
}

void Tokenizer::make_pieces() {
    const Vocabulary& vocabulary = scheme_.vocabulary;
    for (int32_t id = 0; id < vocabulary.size(); ++id) {
        pieces_ += piece_of(vocabulary[id], scheme_.conventions);
        piece_ends_.push_back(pieces_.size());
    }
}

std::vector<int32_t> Tokenizer::encode(std::string_view text, EncodeOptions options) const {
    std::vector<int32_t> ids;
    if (options.add_special && adds_bos()) ids.push_back(*bos());
    for (const Fragment& fragment :
         special_tokens_.partition(text, options.parse_special, options.plain)) {
        if (fragment.token) {
            ids.push_back(*fragment.token);
        } else {
            scheme_.encode(scheme_.vocabulary, fragment.text, ids);
        }
    }
    if (options.add_special && adds_eos()) ids.push_back(*eos());
    return ids;
}

std::string_view Tokenizer::piece(int32_t id, bool special) const {
    if (!scheme_.vocabulary.has(id)) return {};
    const TokenType type = scheme_.vocabulary[id].type;
    const bool hidden = type == TokenType::Control || type == TokenType::Unknown;
    if (hidden && !special) return {};
    const size_t at = static_cast<size_t>(id);
    const size_t begin = at == 0 ? 0 : piece_ends_[at - 1];
    return std::string_view(pieces_).substr(begin, piece_ends_[at] - begin);
}

}  // namespace tandem::model
