// The commit that the program was built from.
#pragma once

#include <cstdint>
#include <string_view>

namespace tandem::cli {

struct Commit {
    std::string_view hash;  // shortened; empty where the source was no checkout
    int64_t number;         // of commits up to it
};
extern const Commit commit;

}  // namespace tandem::cli
