#include "model/tokenizer/unicode.h"

#include <algorithm>

namespace tandem::model {

Category general_category(char32_t code) {
    const auto after = std::upper_bound(
        category_ranges.begin(), category_ranges.end(), code,
        [](char32_t wanted, const CategoryRange& range) { return wanted < range.first; });
    return std::prev(after)->category;
}

}  // namespace tandem::model
