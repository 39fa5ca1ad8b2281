#include "model/jinja/syntax.h"

#include <utility>

#include "model/jinja/arena.h"

namespace tandem::model::jinja {

const String* Syntax::string(std::string text) {
    const size_t characters = count_characters(text);
    return &strings.emplace_back(String{Text(std::move(text)), characters});
}

int Syntax::id(std::string_view name) {
    const auto [entry, added] = ids.try_emplace(std::string(name), static_cast<int>(names.size()));
    if (added) names.push_back(string(std::string(name)));
    return entry->second;
}

int Syntax::find(std::string_view name) const {
    const auto entry = ids.find(name);
    return entry == ids.end() ? -1 : entry->second;
}

}  // namespace tandem::model::jinja
