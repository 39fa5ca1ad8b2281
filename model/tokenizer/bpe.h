// Byte-pair encoding: text is split into pieces, and within a piece symbols are merged in the order
// of a list that the vocabulary brings (Sennrich et al. 2016, https://arxiv.org/abs/1508.07909).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/tokenizer/joint_table.h"
#include "model/tokenizer/pretokenizer.h"
#include "model/tokenizer/vocabulary.h"

namespace tandem::model {

class Bpe {
  public:
    // `merges` are "left right" in rank order. Without any, two tokens join wherever their texts
    // together are a token, the lowest id first. Throws Error, in the name of `file`, for an entry
    // that is no pair.
    Bpe(const Vocabulary& vocabulary, std::span<const std::string> merges,
        const Pretokenizer& pretokenizer, const std::string& file);

    // Appends the ids of raw text. Bytes that the vocabulary cannot write are left out.
    void encode(const Vocabulary& vocabulary, std::string_view text,
                std::vector<int32_t>& ids) const;

  private:
    int32_t symbol(const Vocabulary& vocabulary, std::string_view text) const;
    int32_t symbol_or_new(const Vocabulary& vocabulary, std::string_view text);
    void add_merges(const Vocabulary& vocabulary, std::span<const std::string> merges,
                    const std::string& file);
    void add_joints_by_id(const Vocabulary& vocabulary, const std::string& file);
    std::vector<Symbol> symbols(const Vocabulary& vocabulary, std::string_view piece) const;
    bool encode_whole(const Vocabulary& vocabulary, std::string_view piece,
                      std::vector<int32_t>& ids) const;
    void encode_piece(const Vocabulary& vocabulary, std::string_view piece, const FindJoint& find,
                      std::vector<int32_t>& ids) const;

    const Pretokenizer* pretokenizer_;  // a row of the constant table
    JointTable joints_;
    // Texts that merges mention although they are no tokens; ids from the vocabulary's size on.
    std::map<std::string, int32_t, std::less<>> extra_symbols_;
    // Byte-level: the symbol of each byte. Otherwise the tokens <0xHH>, for what is left over.
    std::array<int32_t, 256> byte_symbols_;
};

}  // namespace tandem::model
