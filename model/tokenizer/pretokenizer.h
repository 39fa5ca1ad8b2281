// How the vocabularies of each `tokenizer.ggml.pre` name split text before merging, and what else
// goes without saying for them.
#pragma once

#include <string_view>

#include "model/tokenizer/split.h"

namespace tandem::model {

struct Pretokenizer {
    std::string_view names;  // separated by spaces
    Steps steps;
    bool whole_pieces = false;            // a piece that is a token is not merged ("ignore_merges")
    bool whole_newlines = false;          // the same for pieces of newlines only
    bool add_bos = false;                 // unless the file says otherwise
    bool default_bos = true;              // false: no BOS unless the file names one
    bool byte_level = true;               // false: token texts are UTF-8 and not images of bytes
    bool escape_spaces = false;           // spaces are written U+2581
    std::string_view swallows_left = {};  // a special token that takes the white space before it
};

// Null where the name is unknown.
const Pretokenizer* find_pretokenizer(std::string_view name);
// For names that are known to be in the table.
const Pretokenizer& known_pretokenizer(std::string_view name);

}  // namespace tandem::model
