#include "model/tokenizer/utf8_stream.h"

#include <algorithm>
#include <utility>

#include "model/tokenizer/utf8.h"

namespace tandem::model {
namespace {

// Bytes at the end that are the beginning of a sequence.
size_t unfinished(std::string_view bytes) {
    for (size_t length = std::min<size_t>(3, bytes.size()); length > 0; --length) {
        const Utf8Front front = utf8_front(bytes.substr(bytes.size() - length));
        if (front.length == length && !front.whole) return length;
    }
    return 0;
}

}  // namespace

std::string Utf8Stream::push(std::string_view bytes) {
    std::string text = std::exchange(waiting_, {});
    text += bytes;
    const size_t shown = text.size() - unfinished(text);
    waiting_ = text.substr(shown);
    text.resize(shown);
    return text;
}

std::string Utf8Stream::flush() { return std::exchange(waiting_, {}); }

}  // namespace tandem::model
