#include "model/jinja/scope.h"

#include <algorithm>

namespace tandem::model::jinja {

const Value* Scope::find(int id) const {
    for (const Scope* scope = this; scope; scope = scope->parent)
        for (const auto& [each, value] : scope->variables)
            if (each == id) return &value;
    return nullptr;
}

bool Scope::holds(int id) const {
    return std::any_of(variables.begin(), variables.end(),
                       [&](const auto& each) { return each.first == id; });
}

void Scope::set(int id, const Value& value) {
    for (auto& [each, old] : variables) {
        if (each != id) continue;
        old = value;
        return;
    }
    variables.emplace_back(id, value);
}

Scope* Scopes::open(Scope* parent) {
    Scope* scope = free_.empty() ? &scopes_.emplace_back() : free_.back();
    if (!free_.empty()) free_.pop_back();
    scope->parent = parent;
    return scope;
}

void Scopes::close(Scope* scope) {
    if (scope->kept) return;
    scope->variables.clear();
    free_.push_back(scope);
}

Scope* Scopes::renew(Scope* scope) {
    if (scope->kept) return open(scope->parent);
    scope->variables.clear();
    return scope;
}

void Scopes::keep(Scope* scope) {
    for (; scope && !scope->kept; scope = scope->parent) scope->kept = true;
}

}  // namespace tandem::model::jinja
