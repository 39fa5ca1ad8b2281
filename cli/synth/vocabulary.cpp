#include "cli/synth/vocabulary.h"

#include <string>
#include <vector>

#include "cli/synth/special_tokens.h"

namespace tandem::cli {

namespace {

using synth::Special;
using synth::SpecialTokens;
using synth::TokenType;

std::string utf8(int code) {
    if (code < 0x80) return {char(code)};
    return {char(0xC0 | code >> 6), char(0x80 | (code & 63))};
}

// GPT-2 writes every byte as a visible character: most stand for themselves, the others for the
// characters from 256 on (Radford et al. 2019).
std::vector<std::string> byte_characters() {
    std::vector<std::string> characters;
    int next = 256;
    for (int byte = 0; byte < 256; ++byte) {
        const bool visible =
            (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
        characters.push_back(utf8(visible ? byte : next++));
    }
    return characters;
}

constexpr std::string_view bpe_space = "\xC4\xA0", spm_space = "\xE2\x96\x81";

struct Tokens {
    std::vector<std::string> texts, merges;
    std::vector<int64_t> types;
    std::vector<double> scores;

    void add(std::string text, TokenType type) {
        texts.push_back(std::move(text));
        types.push_back(int64_t(type));
    }
};

void add_bytes(Tokens& tokens, bool bpe) {
    if (bpe) {
        for (std::string& character : byte_characters())
            tokens.add(std::move(character), TokenType::Normal);
        return;
    }
    for (int byte = 0; byte < 256; ++byte) {
        constexpr char digits[] = "0123456789ABCDEF";
        tokens.add(std::string("<0x") + digits[byte / 16] + digits[byte % 16] + ">",
                   TokenType::Byte);
    }
}

// A handful of the most frequent pairs of English.
void add_words(Tokens& tokens, std::string_view space) {
    const std::string gap(space);
    const std::pair<std::string, std::string> pairs[] = {
        {gap, "t"}, {gap, "a"},        {"h", "e"}, {"i", "n"}, {"r", "e"}, {"o", "n"},
        {gap, "s"}, {gap + "t", "he"}, {"e", "r"}, {"a", "t"}, {"n", "d"}, {gap + "a", "nd"}};
    for (const auto& [left, right] : pairs) {
        tokens.merges.push_back(left + " " + right);
        tokens.add(left + right, TokenType::Normal);
    }
}

void add_special(Tokens& tokens, const SpecialTokens& specials) {
    const int64_t id = int64_t(tokens.texts.size());
    for (const Special& special : specials.texts)
        if (special.id == id) return tokens.add(std::string(special.text), special.type);
    // Padding is numbered from the vocabulary's beginning, other reserved tokens from their own.
    const bool padding = specials.reserved_type == TokenType::Unused;
    const std::string number = std::to_string(id - (padding ? 0 : specials.begin));
    tokens.add(std::string(specials.reserved) + number + std::string(specials.behind),
               specials.reserved_type);
}

Tokens make_tokens(const SpecialTokens& specials, int64_t size) {
    const bool bpe = specials.model == "gpt2";
    const std::string_view space = bpe ? bpe_space : spm_space;
    const int64_t end = specials.end > 0 ? specials.end : size;
    Tokens tokens;
    auto count = [&] { return int64_t(tokens.texts.size()); };
    auto add_specials = [&] {
        while (count() < std::min(end, size)) add_special(tokens, specials);
    };
    if (specials.begin == 0) add_specials();
    add_bytes(tokens, bpe);
    if (!bpe) {
        tokens.add(std::string(space), TokenType::Normal);
        for (char letter = 'a'; letter <= 'z'; ++letter) tokens.add({letter}, TokenType::Normal);
    }
    add_words(tokens, space);
    const int64_t words_end = specials.begin == 0 ? size : specials.begin;
    while (count() < words_end)
        tokens.add(std::string(space) + "w" + std::to_string(count()), TokenType::Normal);
    if (specials.begin > 0) add_specials();
    for (int64_t id = 0; id < count(); ++id) tokens.scores.push_back(-double(id));
    return tokens;
}

}  // namespace

void add_vocabulary(gguf::Metadata& metadata, Vocabulary kind, int64_t size) {
    using gguf::ValueType;
    const SpecialTokens& specials = synth::special_tokens(kind);
    Tokens tokens = make_tokens(specials, size);
    auto array = [&](const std::string& key, ValueType type, auto values) {
        metadata.set("tokenizer.ggml." + key,
                     {.type = type, .array = true, .elements = std::move(values)});
    };
    metadata.set_string("tokenizer.ggml.model", std::string(specials.model));
    if (!specials.pre.empty()) metadata.set_string("tokenizer.ggml.pre", std::string(specials.pre));
    array("tokens", ValueType::String, std::move(tokens.texts));
    array("token_type", ValueType::I32, std::move(tokens.types));
    if (specials.model == "llama")
        array("scores", ValueType::F32, std::move(tokens.scores));
    else
        array("merges", ValueType::String, std::move(tokens.merges));
    metadata.set_u32("tokenizer.ggml.bos_token_id", uint32_t(specials.bos));
    metadata.set_u32("tokenizer.ggml.eos_token_id", uint32_t(specials.eos));
    metadata.set_bool("tokenizer.ggml.add_bos_token", specials.add_bos);
}

}  // namespace tandem::cli
