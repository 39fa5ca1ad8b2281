// SentencePiece's byte-pair encoding: neighbours join where together they are a token, the one with
// the highest score first; what is no token falls back to bytes (Kudo and Richardson 2018,
// https://arxiv.org/abs/1808.06226).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/tokenizer/merge.h"
#include "model/tokenizer/vocabulary.h"

namespace tandem::model {

class Spm {
  public:
    // space_prefix: every raw text is encoded as if a space stood before it.
    // unknown: the token of characters that the vocabulary has not even bytes for.
    Spm(const Vocabulary& vocabulary, bool space_prefix, std::optional<int32_t> unknown);

    // Appends the ids of raw text.
    void encode(const Vocabulary& vocabulary, std::string_view text,
                std::vector<int32_t>& ids) const;

  private:
    // The end of the word that begins at `begin`: no token reaches past it.
    size_t word_end(std::string_view text, size_t begin) const;
    void add_bytes(std::string_view bytes, std::vector<int32_t>& ids) const;

    bool space_prefix_;
    std::optional<int32_t> unknown_;
    std::array<std::optional<int32_t>, 256> byte_tokens_;
    // The bytes that come right before an escaped space inside some token. Text can be cut before
    // any other space, and short words merge much faster than a long text.
    std::array<bool, 256> joins_space_{};
};

}  // namespace tandem::model
