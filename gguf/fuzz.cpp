// libFuzzer target of the parser: any bytes either parse or throw Error.
#include <cstddef>
#include <cstdint>

#include "gguf/error.h"
#include "gguf/file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    try {
        auto file = tandem::gguf::File::parse({reinterpret_cast<const std::byte*>(data), size},
                                              "fuzz", tandem::gguf::Content::Full);
        for (const auto& tensor : file.tensors()) (void)file.data(tensor);
        for (const auto& [key, value] : file.metadata().entries()) (void)describe(value);
    } catch (const tandem::Error&) {
    }
    return 0;
}
