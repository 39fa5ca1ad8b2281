// Tensor types that files may name and this program does not read, and what to do about each.
#pragma once

#include <cstdint>
#include <string>

namespace tandem::gguf {

// Why a tensor of the type `id`, which is not one of dtypes() in files, is refused.
std::string why_refused(uint32_t id);

}  // namespace tandem::gguf
