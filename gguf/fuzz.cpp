// libFuzzer target of the parser and the decoders: any bytes either parse or throw Error, and what
// has parsed can be described and decoded.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gguf/error.h"
#include "gguf/file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    try {
        auto file = tandem::gguf::File::parse({reinterpret_cast<const std::byte*>(data), size},
                                              "fuzz", tandem::gguf::Content::Full);
        for (const auto& tensor : file.tensors()) {
            std::vector<float> row(size_t(tensor.row_length()));  // bounded by the input's size
            decode_row(tensor.dtype, file.data(tensor).data(), row);
        }
        for (const auto& [key, value] : file.metadata().entries()) (void)describe(value);
    } catch (const tandem::Error&) {
    }
    return 0;
}
