#include "kernels/storage.h"

#include <string>

#include "gguf/error.h"

namespace tandem::kernels {

namespace {

// A page, so that memory first touched by a thread is near its core from the first byte on.
constexpr std::align_val_t alignment{4096};

}  // namespace

void Buffer::Delete::operator()(std::byte* memory) const { ::operator delete[](memory, alignment); }

Buffer::Buffer(int64_t bytes, std::string_view remedy) : bytes_(bytes) {
    if (bytes == 0) return;
    auto* memory =
        static_cast<std::byte*>(::operator new[](size_t(bytes), alignment, std::nothrow));
    if (!memory)
        throw Error("out of memory: " + std::to_string(bytes >> 20) + " MiB are not available; " +
                    std::string(remedy));
    data_.reset(memory);
}

}  // namespace tandem::kernels
