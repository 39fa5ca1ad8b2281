// What expressions of a template evaluate to. Values are small and copied freely; what they point
// to belongs to the arena of a rendering, or to the syntax tree (literals).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "model/jinja/text.h"

namespace tandem::model::jinja {

struct String {  // never changes
    Text text;
    size_t characters = 0;  // code points; bytes that are no UTF-8 count as one each
};

struct List;
struct Dict;
struct Namespace;
struct Loop;
struct Function;

// What is not there, and which words say so. Without any words: an argument that was left out.
struct Undefined {
    const String* name = nullptr;
    // The type that has no such attribute; null: it is a variable. Without a name: what to say.
    const char* owner = nullptr;
    bool operator==(const Undefined&) const { return true; }
    bool absent() const { return !name && !owner; }
};
struct None {
    bool operator==(const None&) const = default;
};

using Value = std::variant<Undefined, None, bool, int64_t, double, const String*, List*, Dict*,
                           Namespace*, Loop*, const Function*>;
using Values = std::vector<Value>;

// Generators can be walked once and have no length, as in Python; they are made at once all the
// same.
struct List {
    enum class Form { List, Tuple, Range, Keys, Values, Items, Generator };
    jinja::Values items;
    Form form = Form::List;
    bool is_group = false;  // of groupby: a tuple of a grouper and a list
    // Lists, tuples and ranges have elements; the others can only be walked.
    bool indexed() const { return form <= Form::Range; }
    bool sized() const { return form != Form::Generator; }
};

// In order of insertion. Keys are what Python can hash, and of tuples those without tuples.
struct Dict {
    using Entry = std::pair<Value, Value>;

    const std::vector<Entry>& entries() const { return entries_; }
    const Value* find(const Value& key) const;
    void set(const Value& key, const Value& value);
    void erase(const Value& key);

    // An order of keys that holds 1, 1.0 and true for one.
    struct Less {
        bool operator()(const Value& left, const Value& right) const;
    };

  private:
    // Where the key's entry is, or how many there are.
    size_t index(const Value& key) const;

    std::vector<Entry> entries_;
    std::map<Value, size_t, Less> indices_;  // once there are more than a few
};

// The one thing that `set` changes from inside of loops.
struct Namespace {
    Dict attributes;
};

struct Builtin;
struct Macro;
struct For;
struct Scope;

// Anything that can be called: a function or method that is built in, or a macro.
struct Function {
    const Builtin* builtin = nullptr;
    Value self;  // first argument of methods; absent for functions
    const Macro* macro = nullptr;
    Scope* scope = nullptr;  // where the macro was defined
};

// The variable `loop`.
struct Loop {
    jinja::Values items;
    size_t index = 0;  // from 0
    int depth = 0;     // of recursive calls
    const For* syntax = nullptr;
    Scope* scope = nullptr;  // around the loop
    bool ended = false;
    jinja::Values changed;  // what loop.changed() saw last
    bool changed_before = false;
};

template <class T>
const T* get(const Value& value) {
    return std::get_if<T>(&value);
}
inline const String* string_of(const Value& value) {
    const auto* string = get<const String*>(value);
    return string ? *string : nullptr;
}
inline List* list_of(const Value& value) {
    const auto* list = get<List*>(value);
    return list ? *list : nullptr;
}
inline Dict* dict_of(const Value& value) {
    const auto* dict = get<Dict*>(value);
    return dict ? *dict : nullptr;
}
inline bool is_undefined(const Value& value) { return value.index() == 0; }
inline bool is_none(const Value& value) { return value.index() == 1; }
// Booleans are integers, as in Python.
bool is_number(const Value& value);

bool truth(const Value& value);

// "int", "str", "dict" ...: Python's names, as messages say them.
const char* type_name(const Value& value);

// "'x' is undefined".
std::string words_of(const Undefined& undefined);

// Throws Error where nothing is there to be worked with.
void expect_defined(const Value& value);

}  // namespace tandem::model::jinja
