// Text to tokens and back, as the model's file prescribes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/metadata.h"
#include "model/byte_range.h"
#include "model/tokenizer/scheme.h"
#include "model/tokenizer/special_ids.h"
#include "model/tokenizer/special_tokens.h"

namespace tandem::model {

struct EncodeOptions {
    bool add_special = true;    // BOS and EOS where the model wants them
    bool parse_special = true;  // texts of control tokens become those tokens
    // But where they have a byte in one of these ranges, which are in order.
    std::span<const ByteRange> plain = {};
};

class Tokenizer {
  public:
    // Throws Error for kinds of vocabulary that are not supported and for damaged ones. `file` is
    // the name that messages have in front.
    Tokenizer(const gguf::Metadata& metadata, const std::string& file);

    Tokenizer(Tokenizer&&) = default;  // and no copies: tens of megabytes
    Tokenizer& operator=(Tokenizer&&) = default;

    // Throws Error where the file has no tokenizer.
    std::vector<int32_t> encode(std::string_view text, EncodeOptions options = {}) const;

    // The bytes that a token adds to a text. Control and unknown tokens add nothing unless
    // `special` asks for their texts. Bytes of one character may be spread over tokens (see
    // Utf8Stream). Empty for ids that have no token. Lives as long as the tokenizer.
    std::string_view piece(int32_t id, bool special = false) const;

    // Tokens that a model of this vocabulary has logits for; without a tokenizer the file's word.
    int32_t size() const { return size_; }

    std::optional<int32_t> bos() const { return scheme_.ids.bos; }
    std::optional<int32_t> eos() const { return scheme_.ids.eos; }
    const SpecialIds& special_ids() const { return scheme_.ids; }
    bool adds_bos() const { return scheme_.conventions.add_bos && scheme_.ids.bos; }
    bool adds_eos() const { return scheme_.conventions.add_eos && scheme_.ids.eos; }
    bool ends_generation(int32_t id) const { return scheme_.ids.generation_ends.contains(id); }

    // What the user should be told about the file; empty most of the time.
    std::span<const std::string> warnings() const { return scheme_.warnings; }

  private:
    void make_pieces();

    Scheme scheme_;
    SpecialTokens special_tokens_;
    int32_t size_ = 0;
    std::string pieces_;              // of all tokens, one after another
    std::vector<size_t> piece_ends_;  // in `pieces_`, by id
};

}  // namespace tandem::model
