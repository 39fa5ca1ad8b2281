// Remarks that a command makes and goes on.
#pragma once

#include <iostream>
#include <span>
#include <string>

namespace tandem::cli {

inline void print_notes(std::span<const std::string> notes) {
    for (const std::string& note : notes) std::cerr << "note: " << note << "\n";
}

}  // namespace tandem::cli
