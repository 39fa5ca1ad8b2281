// Where published vocabularies keep their special tokens.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "cli/synth/vocabulary.h"

namespace tandem::cli::synth {

// The numbers that files give to kinds of tokens.
enum class TokenType { Normal = 1, Unknown = 2, Control = 3, Unused = 5, Byte = 6 };

struct Special {
    int64_t id;
    std::string_view text;
    TokenType type = TokenType::Control;
};

struct SpecialTokens {
    std::string_view model, pre;  // tokenizer.ggml.model and .pre; empty: no such key
    // Ids of special tokens, up to the end of the vocabulary if `end` is 0; those that have no
    // text of their own are named by number: "<|reserved_", 3, "|>".
    int64_t begin, end;
    std::string_view reserved, behind;
    TokenType reserved_type;
    std::span<const Special> texts;
    int64_t bos, eos;
    bool add_bos;
};

const SpecialTokens& special_tokens(Vocabulary kind);

}  // namespace tandem::cli::synth
