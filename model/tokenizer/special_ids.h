// Which tokens have a role: begin and end of a text, ends of generation.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gguf/metadata.h"
#include "model/tokenizer/vocabulary.h"

namespace tandem::model {

struct SpecialIds {
    std::optional<int32_t> bos, eos;  // begin and end of a text
    std::optional<int32_t> eot, eom;  // end of a turn and of a message
    std::optional<int32_t> unknown;
    std::optional<int32_t> fim_padding, fim_repository, fim_separator;  // of fill-in-the-middle
    std::set<int32_t> generation_ends;  // a model that says one of these has finished
    std::set<int32_t> shown;            // user-defined by us alone, to be seen in what is generated
    std::vector<int32_t> suppressed;    // never to be sampled
};

// `defaults` hold where the file says nothing; roles it does not name are looked for by the texts
// that models are known to use. What is recognised as an end of generation, or as a mark of a
// message's parts, gets the type that its handling needs, whatever the file says.
SpecialIds find_special_ids(const gguf::Metadata& metadata, const SpecialIds& defaults,
                            const std::string& file, Vocabulary& vocabulary,
                            std::vector<std::string>& warnings);

}  // namespace tandem::model
