#include "model/jinja/filters.h"

namespace tandem::model::jinja {

const Builtin* find_filter(std::string_view name) {
    for (const Table table : {text_filters(), sequence_filters(), selection_filters()})
        if (const Builtin* filter = find(table, name)) return filter;
    return nullptr;
}

}  // namespace tandem::model::jinja
