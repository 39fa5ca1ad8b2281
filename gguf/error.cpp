#include "gguf/error.h"

namespace tandem {

void check(bool condition, std::string_view sentence, const char* file, int line) {
    if (condition) return;
    throw std::logic_error("internal error at " + std::string(file) + ":" + std::to_string(line) +
                           ": " + std::string(sentence));
}

}  // namespace tandem
