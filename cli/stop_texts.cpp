#include "cli/stop_texts.h"

#include <algorithm>
#include <utility>

namespace tandem::cli {

StopTexts::StopTexts(std::vector<std::string> texts) : texts_(std::move(texts)) {
    for (const std::string& text : texts_) longest_ = std::max(longest_, text.size());
}

bool StopTexts::has(std::string_view text) const {
    return std::find(texts_.begin(), texts_.end(), text) != texts_.end();
}

std::optional<size_t> StopTexts::find_end(std::string_view piece) {
    const size_t known = before_.size();
    before_ += piece;
    std::optional<size_t> first;
    for (const std::string& text : texts_) {
        // One that ended before the piece would have ended the text.
        const size_t from = known + 1 > text.size() ? known + 1 - text.size() : 0;
        if (const size_t at = before_.find(text, from); at != before_.npos)
            first = std::min(first.value_or(at + text.size()), at + text.size());
    }
    if (first) return *first - known;
    const size_t kept = std::min(before_.size(), longest_ > 0 ? longest_ - 1 : 0);
    before_.erase(0, before_.size() - kept);
    return {};
}

}  // namespace tandem::cli
