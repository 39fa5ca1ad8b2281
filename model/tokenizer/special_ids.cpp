#include "model/tokenizer/special_ids.h"

#include <array>
#include <span>
#include <string_view>

namespace tandem::model {
namespace {

// One role: the key that names its token, and the texts that are looked for, in this order, where
// the file does not.
struct Role {
    std::optional<int32_t> SpecialIds::*id;
    std::string_view key;
    std::array<std::string_view, 11> texts = {};
};

// DeepSeek writes its bars wide and its spaces as low blocks.
constexpr std::string_view end_of_sentence = "<\uFF5Cend\u2581of\u2581sentence\uFF5C>";

constexpr Role roles[] = {
    {&SpecialIds::bos, "bos"},
    {&SpecialIds::eos, "eos"},
    {&SpecialIds::eot,
     "eot",
     {"<|eot_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>", "<|endoftext|>", "<|end_of_text|>",
      "<EOT>", "_<EOT>", "[EOT]", end_of_sentence, "<end_of_utterance>"}},
    {&SpecialIds::eom, "eom", {"<|eom_id|>"}},
    {&SpecialIds::unknown, "unknown"},
    {&SpecialIds::fim_padding,
     "fim_pad",
     {"<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"}},
    {&SpecialIds::fim_repository,
     "fim_rep",
     {"<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"}},
    {&SpecialIds::fim_separator, "fim_sep", {"<|file_sep|>"}},
};

constexpr std::string_view end_texts[] = {
    "<|eot_id|>",
    "<|im_end|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|flush|>",
    "<|calls|>",
    "<end_of_turn>",
    "<|endoftext|>",
    "</s>",
    "<|eom_id|>",
    "<EOT>",
    "_<EOT>",
    "[EOT]",
    "[EOS]",
    "<|end_of_text|>",
    "<end_of_utterance>",
    "<eos>",
    "<turn|>",
    "<|tool_response>",
    end_of_sentence,
    "[e~[",
};

// The marks of the Harmony format are shown, so that its parser can see them.
constexpr std::string_view shown_texts[] = {"<|channel|>", "<|message|>", "<|start|>",
                                            "<|constrain|>"};

// Converters write -1, as u32 too, for a role that no token has.
bool is_nobody(int64_t id) { return id == -1 || id == int64_t(UINT32_MAX); }

// The token that the file names for a role, if it does and has such a token.
std::optional<int32_t> named_id(const gguf::Metadata& metadata, const Role& role,
                                const std::string& file, const Vocabulary& vocabulary,
                                std::vector<std::string>& warnings) {
    const std::string key = "tokenizer.ggml." + std::string(role.key) + "_token_id";
    const auto id = metadata.integer(key);
    if (!id || is_nobody(*id)) return std::nullopt;
    if (vocabulary.has(*id)) return static_cast<int32_t>(*id);
    warnings.push_back(file + ": " + key + " is " + std::to_string(*id) + ", but there are only " +
                       std::to_string(vocabulary.size()) + " tokens; it is ignored");
    return std::nullopt;
}

std::optional<int32_t> find_any(const Vocabulary& vocabulary,
                                std::span<const std::string_view> texts) {
    for (const std::string_view text : texts) {
        if (const auto id = vocabulary.find(text)) return id;
    }
    return std::nullopt;
}

// Ordinary words of a vocabulary may read like an end of generation: the text alone is not enough.
void find_ends(SpecialIds& ids, bool names_eos, Vocabulary& vocabulary) {
    for (const std::string_view text : end_texts) {
        const auto id = vocabulary.find(text);
        if (!id) continue;
        const TokenType type = vocabulary[*id].type;
        const bool special = type == TokenType::Control || type == TokenType::Unknown;
        if (!special && names_eos && id != ids.eos && id != ids.eot && id != ids.eom) continue;
        vocabulary.set_type(*id, TokenType::Control);
        ids.generation_ends.insert(*id);
    }
    for (const auto id :
         {ids.eos, ids.eot, ids.eom, ids.fim_padding, ids.fim_repository, ids.fim_separator}) {
        if (id) ids.generation_ends.insert(*id);
    }
}

void make_exceptions(SpecialIds& ids, Vocabulary& vocabulary) {
    for (const std::string_view text : shown_texts) {
        const auto id = vocabulary.find(text);
        if (!id) continue;
        vocabulary.set_type(*id, TokenType::UserDefined);
        ids.shown.insert(*id);
    }
    const auto ends = [&](std::string_view text) {
        const auto id = vocabulary.find(text);
        return id && ids.generation_ends.contains(*id);
    };
    const auto spare = [&](std::string_view text, TokenType type) {
        const int32_t id = *vocabulary.find(text);
        ids.generation_ends.erase(id);
        vocabulary.set_type(id, type);
    };
    // In Harmony <|end|> closes one message of several.
    const bool harmony =
        (ends("<|call|>") || ends("<|calls|>")) && (ends("<|return|>") || ends("<|flush|>"));
    if (harmony && ends("<|end|>")) {
        spare("<|end|>", TokenType::UserDefined);
        ids.shown.insert(*vocabulary.find("<|end|>"));
    }
    // Gemma 4 ends differently; its </s> is an ordinary token.
    if (ends("<|tool_response>") && ends("</s>")) spare("</s>", TokenType::Normal);
}

}  // namespace

SpecialIds find_special_ids(const gguf::Metadata& metadata, const SpecialIds& defaults,
                            const std::string& file, Vocabulary& vocabulary,
                            std::vector<std::string>& warnings) {
    SpecialIds ids = defaults;
    bool names_eos = false;
    for (const Role& role : roles) {
        const auto named = named_id(metadata, role, file, vocabulary, warnings);
        if (named) ids.*role.id = named;
        if (!(ids.*role.id)) ids.*role.id = find_any(vocabulary, role.texts);
        if (role.id == &SpecialIds::eos) names_eos = named.has_value();
    }
    find_ends(ids, names_eos, vocabulary);
    make_exceptions(ids, vocabulary);
    for (const int64_t id : metadata.integers("tokenizer.ggml.suppress_tokens")) {
        if (vocabulary.has(id)) ids.suppressed.push_back(static_cast<int32_t>(id));
    }
    return ids;
}

}  // namespace tandem::model
