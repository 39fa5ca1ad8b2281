#include "cli/synth/vocabulary.h"

#include <string>
#include <vector>

namespace tandem::cli {

namespace {

// The numbers that files give to kinds of tokens.
enum class TokenType { Normal = 1, Unknown = 2, Control = 3, Unused = 5, Byte = 6 };

struct Special {
    int64_t id;
    std::string_view text;
    TokenType type = TokenType::Control;
};

// Where a family keeps its special tokens; what lies between is reserved.
struct Family {
    std::string_view model, pre;
    int64_t reserved_begin, reserved_end;  // ids
    std::string_view reserved;             // "<|reserved_", then a number and "|>"
    std::vector<Special> specials;
    int64_t bos, eos;
    bool add_bos;
};

Family family(Vocabulary kind, int64_t size) {
    switch (kind) {
        case Vocabulary::Spm:
            return {"llama", "", 0,
                    3,       "", {{0, "<unk>", TokenType::Unknown}, {1, "<s>"}, {2, "</s>"}},
                    1,       2,  true};
        case Vocabulary::Tekken:
            return {
                "gpt2",      "tekken",
                0,           1000,
                "<SPECIAL_", {{0, "<unk>"}, {1, "<s>"}, {2, "</s>"}, {3, "[INST]"}, {4, "[/INST]"}},
                1,           2,
                true};
        case Vocabulary::Llama3:
            return {"gpt2",
                    "llama-bpe",
                    128000,
                    size,
                    "<|reserved_special_token_",
                    {{128000, "<|begin_of_text|>"},
                     {128001, "<|end_of_text|>"},
                     {128006, "<|start_header_id|>"},
                     {128007, "<|end_header_id|>"},
                     {128008, "<|eom_id|>"},
                     {128009, "<|eot_id|>"}},
                    128000,
                    128009,
                    true};
        case Vocabulary::Qwen:
            return {"gpt2",
                    "qwen2",
                    151643,
                    size,
                    "[PAD",
                    {{151643, "<|endoftext|>"}, {151644, "<|im_start|>"}, {151645, "<|im_end|>"}},
                    151643,
                    151645,
                    false};
    }
    return {};
}

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

void add_special(Tokens& tokens, const Family& family, bool padding) {
    const int64_t id = int64_t(tokens.texts.size());
    for (const Special& special : family.specials)
        if (special.id == id) return tokens.add(std::string(special.text), special.type);
    const std::string number = std::to_string(id - (padding ? 0 : family.reserved_begin));
    tokens.add(std::string(family.reserved) + number +
                   (family.reserved.starts_with("<|") ? "|>"
                    : padding                         ? "]"
                                                      : ">"),
               padding ? TokenType::Unused : TokenType::Control);
}

Tokens make_tokens(const Family& family, int64_t size) {
    const bool bpe = family.model == "gpt2";
    const std::string_view space = bpe ? bpe_space : spm_space;
    Tokens tokens;
    auto add_reserved = [&] {
        while (int64_t(tokens.texts.size()) < std::min(family.reserved_end, size))
            add_special(tokens, family, family.reserved == "[PAD");
    };
    if (family.reserved_begin == 0) add_reserved();
    add_bytes(tokens, bpe);
    if (!bpe) {
        tokens.add(std::string(space), TokenType::Normal);
        for (char letter = 'a'; letter <= 'z'; ++letter) tokens.add({letter}, TokenType::Normal);
    }
    add_words(tokens, space);
    const int64_t end = family.reserved_begin == 0 ? size : family.reserved_begin;
    while (int64_t(tokens.texts.size()) < end)
        tokens.add(std::string(space) + "w" + std::to_string(tokens.texts.size()),
                   TokenType::Normal);
    if (family.reserved_begin > 0) add_reserved();
    for (size_t id = 0; id < tokens.texts.size(); ++id) tokens.scores.push_back(-double(id));
    return tokens;
}

}  // namespace

void add_vocabulary(gguf::Metadata& metadata, Vocabulary kind, int64_t size) {
    using gguf::ValueType;
    const Family family = cli::family(kind, size);
    Tokens tokens = make_tokens(family, size);
    auto array = [&](const std::string& key, ValueType type, auto values) {
        metadata.set("tokenizer.ggml." + key,
                     {.type = type, .array = true, .elements = std::move(values)});
    };
    metadata.set_string("tokenizer.ggml.model", std::string(family.model));
    if (!family.pre.empty()) metadata.set_string("tokenizer.ggml.pre", std::string(family.pre));
    array("tokens", ValueType::String, std::move(tokens.texts));
    array("token_type", ValueType::I32, std::move(tokens.types));
    if (family.model == "llama")
        array("scores", ValueType::F32, std::move(tokens.scores));
    else
        array("merges", ValueType::String, std::move(tokens.merges));
    metadata.set_u32("tokenizer.ggml.bos_token_id", uint32_t(family.bos));
    metadata.set_u32("tokenizer.ggml.eos_token_id", uint32_t(family.eos));
    metadata.set_bool("tokenizer.ggml.add_bos_token", family.add_bos);
}

}  // namespace tandem::cli
