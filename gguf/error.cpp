#include "gguf/error.h"

namespace tandem {

void check(bool condition, std::string_view sentence, std::source_location where) {
    if (condition) return;
    throw std::logic_error("internal error at " + std::string(where.file_name()) + ":" +
                           std::to_string(where.line()) + ": " + std::string(sentence));
}

}  // namespace tandem
