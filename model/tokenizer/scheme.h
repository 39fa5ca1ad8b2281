// All that a file says about its tokens, read by the rules of its kind of vocabulary
// (`tokenizer.ggml.model`). A new kind is a function beside the others in scheme.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/metadata.h"
#include "model/tokenizer/special_ids.h"
#include "model/tokenizer/special_tokens.h"
#include "model/tokenizer/vocabulary.h"

namespace tandem::model {

// How texts and tokens are related, beside the algorithm.
struct Conventions {
    bool add_bos = false;
    bool add_eos = false;
    bool escape_spaces = false;  // spaces are written U+2581
    bool byte_level = false;     // token texts are images of bytes (byte_alphabet.h)
};

// Appends the ids of raw text.
using EncodeText = std::function<void(const Vocabulary& vocabulary, std::string_view text,
                                      std::vector<int32_t>& ids)>;

struct Scheme {
    Vocabulary vocabulary;
    Conventions conventions;
    SpecialIds ids;
    Swallowing swallowing;
    EncodeText encode;
    std::vector<std::string> warnings;  // each names the file
};

// Throws Error, in the name of `file`, for kinds that are not supported and for damaged ones.
Scheme read_scheme(const gguf::Metadata& metadata, const std::string& file);

}  // namespace tandem::model
