#include "model/tokenizer/scheme.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "gguf/error.h"
#include "gguf/fault.h"
#include "model/tokenizer/bpe.h"
#include "model/tokenizer/pretokenizer.h"
#include "model/tokenizer/spm.h"

namespace tandem::model {
namespace {

struct Source {
    const gguf::Metadata& metadata;
    const std::string& file;
};

// Default ids hold only where there is such a token.
std::optional<int32_t> if_any(const Vocabulary& vocabulary, int32_t id) {
    return vocabulary.has(id) ? std::optional(id) : std::nullopt;
}

// The default of BPE files is a relic of one early model: elsewhere the token is some word.
std::optional<int32_t> if_control(const Vocabulary& vocabulary, int32_t id) {
    const bool control = vocabulary.has(id) && vocabulary[id].type == TokenType::Control;
    return control ? std::optional(id) : std::nullopt;
}

// What the file says overrides what the kind suggests.
void read_flags(const gguf::Metadata& metadata, Conventions& conventions) {
    const auto read = [&](std::string_view name, bool& flag) {
        flag = metadata.boolean("tokenizer.ggml." + std::string(name)).value_or(flag);
    };
    read("add_bos_token", conventions.add_bos);
    read("add_eos_token", conventions.add_eos);
}

Scheme read_spm(const Source& source) {
    Scheme scheme;
    Vocabulary& vocabulary = scheme.vocabulary;
    vocabulary = Vocabulary(source.metadata, source.file, scheme.warnings);
    scheme.conventions = {.add_bos = true, .escape_spaces = true};
    read_flags(source.metadata, scheme.conventions);
    SpecialIds defaults;
    defaults.bos = if_any(vocabulary, 1);
    defaults.eos = if_any(vocabulary, 2);
    defaults.unknown = if_any(vocabulary, 0);
    scheme.ids =
        find_special_ids(source.metadata, defaults, source.file, vocabulary, scheme.warnings);
    const bool space_prefix =
        source.metadata.boolean("tokenizer.ggml.add_space_prefix").value_or(true);
    scheme.encode = [spm = Spm(vocabulary, space_prefix, scheme.ids.unknown)](
                        const Vocabulary& tokens, std::string_view text,
                        std::vector<int32_t>& ids) { spm.encode(tokens, text, ids); };
    return scheme;
}

const Pretokenizer& choose_pretokenizer(const Source& source, Scheme& scheme) {
    static constexpr std::string_view key = "tokenizer.ggml.pre";
    const auto name = source.metadata.text(key);
    if (!name) {
        scheme.warnings.push_back(source.file + ": " + std::string(key) +
                                  " is missing; text is split by the default rules, which may "
                                  "not be the model's");
    }
    if (const Pretokenizer* known = find_pretokenizer(name.value_or("default"))) return *known;
    scheme.warnings.push_back(source.file + ": " + std::string(key) + " is " +
                              gguf::in_quotes(*name) +
                              ", which is unknown; text is split as for llama-bpe");
    return known_pretokenizer("dbrx");  // llama-bpe without its other habits
}

Scheme read_bpe_as(const Source& source, const Pretokenizer& pretokenizer, Scheme scheme) {
    Vocabulary& vocabulary = scheme.vocabulary;
    vocabulary = Vocabulary(source.metadata, source.file, scheme.warnings);
    scheme.conventions = {.add_bos = pretokenizer.add_bos,
                          .escape_spaces = pretokenizer.escape_spaces,
                          .byte_level = pretokenizer.byte_level};
    read_flags(source.metadata, scheme.conventions);
    SpecialIds defaults;
    if (pretokenizer.default_bos) defaults.bos = if_control(vocabulary, 11);
    defaults.eos = if_control(vocabulary, 11);
    scheme.ids =
        find_special_ids(source.metadata, defaults, source.file, vocabulary, scheme.warnings);
    scheme.swallowing.left = pretokenizer.swallows_left;
    const auto merges = source.metadata.texts("tokenizer.ggml.merges");
    scheme.encode = [bpe = Bpe(vocabulary, merges, pretokenizer, source.file)](
                        const Vocabulary& tokens, std::string_view text,
                        std::vector<int32_t>& ids) { bpe.encode(tokens, text, ids); };
    return scheme;
}

Scheme read_bpe(const Source& source) {
    Scheme scheme;
    const Pretokenizer& pretokenizer = choose_pretokenizer(source, scheme);
    return read_bpe_as(source, pretokenizer, std::move(scheme));
}

Scheme read_gemma4(const Source& source) {
    Scheme scheme = read_bpe_as(source, known_pretokenizer("gemma4"), {});
    scheme.conventions.add_bos = true;  // early files say false and are wrong
    return scheme;
}

Scheme read_nothing(const Source& source) {
    Scheme scheme;
    scheme.encode = [file = source.file](const Vocabulary&, std::string_view,
                                         std::vector<int32_t>&) {
        throw Error(file +
                    ": the file has no tokenizer; text can be neither read nor written, "
                    "only token ids");
    };
    return scheme;
}

struct Kind {
    std::string_view name;
    Scheme (*read)(const Source& source);
};
constexpr Kind kinds[] = {
    {"llama", read_spm},    {"gpt2", read_bpe},         {"gemma4", read_gemma4},
    {"none", read_nothing}, {"no_vocab", read_nothing},
};

bool is_phi3(const gguf::Metadata& metadata) {
    std::string name = metadata.text("general.name").value_or("");
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return name.find("phi-3") != std::string::npos || name.find("phi3") != std::string::npos;
}

}  // namespace

Scheme read_scheme(const gguf::Metadata& metadata, const std::string& file) {
    const auto name = metadata.text("tokenizer.ggml.model");
    std::string supported;
    for (const Kind& kind : kinds) {
        if (name == kind.name) {
            Scheme scheme = kind.read({metadata, file});
            scheme.swallowing.right = is_phi3(metadata);
            return scheme;
        }
        supported += (supported.empty() ? "" : ", ") + std::string(kind.name);
    }
    throw Error(file + ": tokenizer.ggml.model is " + (name ? gguf::in_quotes(*name) : "missing") +
                ", supported are " + supported);
}

}  // namespace tandem::model
