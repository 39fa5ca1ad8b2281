#include "kernels/storage.h"

#include <string>

#include "gguf/error.h"
#include "kernels/host.h"

namespace tandem::kernels {

namespace {

// A page, so that memory first touched by a thread is near its core from the first byte on. What
// is streamed through many pages takes large ones, which the processor looks up and prefetches in
// one go.
std::align_val_t alignment(int64_t bytes) {
    return std::align_val_t(bytes >= large_page ? large_page : 4096);
}

}  // namespace

void Buffer::Delete::operator()(std::byte* memory) const {
    ::operator delete[](memory, alignment(bytes));
}

Buffer::Buffer(int64_t bytes, std::string_view remedy) : bytes_(bytes) {
    if (bytes == 0) return;
    auto* memory =
        static_cast<std::byte*>(::operator new[](size_t(bytes), alignment(bytes), std::nothrow));
    if (!memory)
        throw Error("out of memory: " + std::to_string(bytes >> 20) + " MiB are not available; " +
                    std::string(remedy));
    if (bytes >= large_page) use_large_pages(memory, bytes);
    data_ = {memory, Delete{bytes}};
}

}  // namespace tandem::kernels
