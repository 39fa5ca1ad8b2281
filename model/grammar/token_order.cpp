#include "model/grammar/token_order.h"

#include <algorithm>

namespace tandem::model::grammar {

TokenOrder::TokenOrder(const std::vector<std::string_view>& texts) {
    for (size_t id = 0; id < texts.size(); ++id)
        if (!texts[id].empty()) tokens_.push_back({.text = texts[id], .id = int32_t(id)});
    std::ranges::sort(tokens_, {}, &OrderedToken::text);
    std::string_view before;
    for (OrderedToken& token : tokens_) {
        const auto [end, ignored] = std::ranges::mismatch(token.text, before);
        token.shared = size_t(end - token.text.begin());
        before = token.text;
        longest_ = std::max(longest_, token.text.size());
    }
}

}  // namespace tandem::model::grammar
