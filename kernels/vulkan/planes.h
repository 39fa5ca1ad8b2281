// How rows of weights and of caches lie in the memory of a Vulkan device: the blocks of a row are
// taken apart, and every field becomes a plane of its own: the field of the first block, that of
// the second, and so on. A plane begins at a multiple of 16 bytes and ends with zeros, so that
// shaders read aligned words, and neighbouring invocations neighbouring words. The header that
// some types put in front of a row is a plane too, the first. shaders/blocks/<type>.glsl reads the
// planes of a type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gguf/dtype.h"

namespace tandem::kernels::vulkan {

struct Planes {
    int block = 0;   // elements of a block; eight numbers where the format has no blocks
    int header = 0;  // bytes per row
    std::span<const int> fields;  // bytes per block, in the order of the block's bytes
};

// The type that shaders read: integers and double precision, of which models have few, are f32.
gguf::DType held_as(gguf::DType dtype);

// Every type that files hold has planes: those of the type that it is held as.
Planes planes_of(gguf::DType dtype);

// Bytes of a row in device memory, a multiple of 16. What is missing of the last block is zeros.
int64_t plane_row_bytes(gguf::DType dtype, int64_t columns);

// `row` is as the file has it, `planes` has room for plane_row_bytes.
void to_planes(gguf::DType dtype, int64_t columns, const std::byte* row, std::byte* planes);
// And back, of types that are held as they are.
void from_planes(gguf::DType dtype, int64_t columns, const std::byte* planes, std::byte* row);

}  // namespace tandem::kernels::vulkan
