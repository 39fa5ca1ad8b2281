// Keys of the model file that the command line overrides: any by --override-kv, those that say how
// positions scale by options of their own.
#pragma once

#include "cli/options.h"
#include "gguf/file.h"

namespace tandem::cli {

extern const OptionGroup key_options;  // --override-kv, --rope-scaling and relatives

// The file of -m, with those keys. Prints a note for each that it did not have. Throws Error where
// a value is of another kind than the file's.
gguf::File open_model(const Arguments& arguments, gguf::Content content = gguf::Content::Full);

}  // namespace tandem::cli
