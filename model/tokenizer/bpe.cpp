#include "model/tokenizer/bpe.h"

#include "gguf/error.h"
#include "gguf/fault.h"
#include "model/tokenizer/byte_alphabet.h"
#include "model/tokenizer/spaces.h"
#include "model/tokenizer/utf8.h"

namespace tandem::model {
namespace {

constexpr int32_t no_symbol = -1;

// Bytes of the longest text that is looked for in two parts; words are far shorter. A file with
// longer ones must not keep its reader busy with all their cuts.
constexpr size_t longest_joined = 1024;

Error collisions(const std::string& file, const std::string& key) {
    return Error(file + ": the pairs of tokenizer.ggml." + key +
                 " all collide in a table: the file is made to keep its reader busy");
}

}  // namespace

Bpe::Bpe(const Vocabulary& vocabulary, std::span<const std::string> merges,
         const Pretokenizer& pretokenizer, const std::string& file)
    : pretokenizer_(&pretokenizer) {
    if (merges.empty()) {
        add_joints_by_id(vocabulary, file);
    } else {
        add_merges(vocabulary, merges, file);
    }
    for (int byte = 0; byte < 256; ++byte) {
        const auto value = static_cast<uint8_t>(byte);
        if (!pretokenizer_->byte_level) {
            byte_symbols_[value] = vocabulary.find_byte(value).value_or(no_symbol);
            continue;
        }
        std::string image;
        append_utf8(image, byte_image(value));
        const int32_t id = symbol(vocabulary, image);
        // The images of bytes that UTF-8 never has are letters, which some vocabularies hold as
        // user-defined tokens: those are not the byte.
        const bool never = byte == 0xC0 || byte == 0xC1 || byte >= 0xF5;
        const bool letter = vocabulary.has(id) && vocabulary[id].type == TokenType::UserDefined;
        byte_symbols_[value] = never && letter ? no_symbol : id;
    }
}

int32_t Bpe::symbol(const Vocabulary& vocabulary, std::string_view text) const {
    if (const auto id = vocabulary.find(text)) return *id;
    const auto extra = extra_symbols_.find(text);
    return extra == extra_symbols_.end() ? no_symbol : extra->second;
}

int32_t Bpe::symbol_or_new(const Vocabulary& vocabulary, std::string_view text) {
    if (const auto id = vocabulary.find(text)) return *id;
    const int32_t next = vocabulary.size() + static_cast<int32_t>(extra_symbols_.size());
    return extra_symbols_.try_emplace(std::string(text), next).first->second;
}

void Bpe::add_merges(const Vocabulary& vocabulary, std::span<const std::string> merges,
                     const std::string& file) {
    joints_ = JointTable(merges.size());
    std::string joined;
    for (size_t rank = 0; rank < merges.size(); ++rank) {
        const std::string_view merge = merges[rank];
        const size_t space = merge.find(' ', 1);  // the left side may begin with a space
        if (space == std::string_view::npos || space + 1 == merge.size()) {
            throw Error(file + ": entry " + std::to_string(rank) + " of tokenizer.ggml.merges is " +
                        gguf::in_quotes(merge) + ", expected two texts with a space between them");
        }
        const std::string_view left = merge.substr(0, space);
        const std::string_view right = merge.substr(space + 1);
        joined.assign(left).append(right);
        const int32_t left_id = symbol_or_new(vocabulary, left);
        const int32_t right_id = symbol_or_new(vocabulary, right);
        const Joint joint{static_cast<uint32_t>(rank), symbol_or_new(vocabulary, joined)};
        if (!joints_.add(left_id, right_id, joint)) throw collisions(file, "merges");
    }
}

void Bpe::add_joints_by_id(const Vocabulary& vocabulary, const std::string& file) {
    struct Pair {
        int32_t left, right, joined;
    };
    std::vector<Pair> pairs;
    for (int32_t joined = 0; joined < vocabulary.size(); ++joined) {
        const std::string_view text = vocabulary[joined].text;
        if (vocabulary[joined].type != TokenType::Normal || text.size() > longest_joined) continue;
        for (size_t cut = 1; cut < text.size(); ++cut) {
            const auto left = vocabulary.find(text.substr(0, cut));
            const auto right = left ? vocabulary.find(text.substr(cut)) : std::nullopt;
            if (right) pairs.push_back({*left, *right, joined});
        }
    }
    joints_ = JointTable(pairs.size());
    for (const Pair& pair : pairs) {
        const Joint joint{static_cast<uint32_t>(pair.joined), pair.joined};
        if (!joints_.add(pair.left, pair.right, joint)) throw collisions(file, "tokens");
    }
}

void Bpe::encode(const Vocabulary& vocabulary, std::string_view text,
                 std::vector<int32_t>& ids) const {
    std::string escaped;
    if (pretokenizer_->escape_spaces) text = escaped = escape_spaces(text);
    const FindJoint find = [&](const Symbol& left, const Symbol& right) {
        if (left.id < 0 || right.id < 0) return std::optional<Joint>();
        return joints_.find(left.id, right.id);
    };
    const std::vector<Character> characters = model::characters(text);
    for (const Text piece : split(characters, pretokenizer_->steps)) {
        size_t bytes = 0;
        for (const Character& character : piece) bytes += character.bytes;
        encode_piece(vocabulary, text.substr(0, bytes), find, ids);
        text.remove_prefix(bytes);
    }
}

std::vector<Symbol> Bpe::symbols(const Vocabulary& vocabulary, std::string_view piece) const {
    std::vector<Symbol> all;
    if (pretokenizer_->byte_level) {
        all.reserve(piece.size());
        for (size_t at = 0; at < piece.size(); ++at) {
            all.push_back({at, 1, byte_symbols_[static_cast<uint8_t>(piece[at])]});
        }
        return all;
    }
    for (size_t at = 0; at < piece.size(); at += all.back().length) {
        const std::string_view character = front_character(piece.substr(at));
        all.push_back({at, character.size(), symbol(vocabulary, character)});
    }
    return all;
}

bool Bpe::encode_whole(const Vocabulary& vocabulary, std::string_view piece,
                       std::vector<int32_t>& ids) const {
    const bool newlines = piece.find_first_not_of('\n') == std::string_view::npos;
    if (!pretokenizer_->whole_pieces && !(pretokenizer_->whole_newlines && newlines)) return false;
    const auto id =
        vocabulary.find(pretokenizer_->byte_level ? to_images(piece) : std::string(piece));
    if (!id || !is_text(vocabulary[*id].type)) return false;
    ids.push_back(*id);
    return true;
}

void Bpe::encode_piece(const Vocabulary& vocabulary, std::string_view piece, const FindJoint& find,
                       std::vector<int32_t>& ids) const {
    if (encode_whole(vocabulary, piece, ids)) return;
    std::vector<Symbol> merged = symbols(vocabulary, piece);
    merge(merged, find);
    for (const Symbol& symbol : merged) {
        if (vocabulary.has(symbol.id)) {
            ids.push_back(symbol.id);
            continue;
        }
        for (const char byte : piece.substr(symbol.begin, symbol.length)) {
            const int32_t id = byte_symbols_[static_cast<uint8_t>(byte)];
            if (vocabulary.has(id)) ids.push_back(id);
        }
    }
}

}  // namespace tandem::model
