#include "model/jinja/text.h"

#include <algorithm>
#include <utility>

namespace tandem::model::jinja {

Text::Text(std::string bytes, bool given) : bytes_(std::move(bytes)) {
    if (given) mark(0, bytes_.size());
}

void Text::append(std::string_view bytes, bool given) {
    const size_t begin = size();
    bytes_.append(bytes);
    if (given) mark(begin, size());
}

void Text::append(const Text& text, size_t begin, size_t end) {
    const size_t before = size();
    bytes_.append(text.bytes_, begin, end - begin);
    auto range = std::upper_bound(text.given_.begin(), text.given_.end(), begin,
                                  [](size_t at, const ByteRange& each) { return at < each.end; });
    for (; range != text.given_.end() && range->begin < end; ++range)
        mark(before + std::max(range->begin, begin) - begin,
             before + std::min(range->end, end) - begin);
}

// What is marked never lies before what was.
void Text::mark(size_t begin, size_t end) {
    if (begin == end) return;
    if (!given_.empty() && given_.back().end == begin)
        given_.back().end = end;
    else
        given_.push_back({begin, end});
}

}  // namespace tandem::model::jinja
