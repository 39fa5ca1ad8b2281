#include "model/jinja/value.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "gguf/error.h"

namespace tandem::model::jinja {
namespace {

constexpr size_t few = 8;  // entries that are found faster one after another

// Exact for all integers and doubles where it has 64 bits of mantissa or more.
long double number(const Value& value) {
    if (const auto* boolean = get<bool>(value)) return *boolean;
    if (const auto* integer = get<int64_t>(value)) return static_cast<long double>(*integer);
    return *get<double>(value);
}

enum class Rank { None, Number, NotANumber, String, Tuple, Undefined };

Rank rank(const Value& key) {
    if (is_none(key)) return Rank::None;
    if (is_undefined(key)) return Rank::Undefined;
    if (string_of(key)) return Rank::String;
    if (is_number(key)) return std::isnan(number(key)) ? Rank::NotANumber : Rank::Number;
    const List* tuple = list_of(key);
    if (!tuple || tuple->form != List::Form::Tuple)
        throw Error(std::string("a ") + type_name(key) + " cannot be the key of a dict");
    return Rank::Tuple;
}

void expect_no_tuples(const Values& items) {
    for (const Value& item : items)
        if (rank(item) == Rank::Tuple) throw Error("a tuple of tuples cannot be the key of a dict");
}

bool equal(const Value& left, const Value& right) {
    return !Dict::Less()(left, right) && !Dict::Less()(right, left);
}

}  // namespace

bool Dict::Less::operator()(const Value& left, const Value& right) const {
    const Rank rank_of_left = rank(left), rank_of_right = rank(right);
    if (rank_of_left != rank_of_right) return rank_of_left < rank_of_right;
    if (rank_of_left == Rank::Number) return number(left) < number(right);
    if (rank_of_left == Rank::String)
        return string_of(left)->text.bytes() < string_of(right)->text.bytes();
    if (rank_of_left != Rank::Tuple) return false;
    const Values &a = list_of(left)->items, &b = list_of(right)->items;
    expect_no_tuples(a);
    expect_no_tuples(b);
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), Less());
}

size_t Dict::index(const Value& key) const {
    if (entries_.size() > few) {
        const auto found = indices_.find(key);
        return found == indices_.end() ? entries_.size() : found->second;
    }
    if (const String* wanted = string_of(key)) {
        for (size_t at = 0; at < entries_.size(); ++at) {
            const String* each = string_of(entries_[at].first);
            if (each && (each == wanted || each->text.bytes() == wanted->text.bytes())) return at;
        }
        return entries_.size();
    }
    rank(key);  // throws for what is no key
    size_t at = 0;
    while (at < entries_.size() && !equal(entries_[at].first, key)) ++at;
    return at;
}

const Value* Dict::find(const Value& key) const {
    const size_t at = index(key);
    return at == entries_.size() ? nullptr : &entries_[at].second;
}

void Dict::set(const Value& key, const Value& value) {
    const size_t at = index(key);
    if (at < entries_.size()) {
        entries_[at].second = value;
        return;
    }
    entries_.emplace_back(key, value);
    if (entries_.size() == few + 1) {
        for (size_t each = 0; each < few; ++each) indices_[entries_[each].first] = each;
    }
    if (entries_.size() > few) indices_[key] = at;
}

void Dict::erase(const Value& key) {
    const size_t at = index(key);
    if (at == entries_.size()) return;
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(at));
    indices_.clear();
    if (entries_.size() <= few) return;
    for (size_t each = 0; each < entries_.size(); ++each) indices_[entries_[each].first] = each;
}

bool is_number(const Value& value) {
    return get<bool>(value) || get<int64_t>(value) || get<double>(value);
}

bool truth(const Value& value) {
    if (is_undefined(value) || is_none(value)) return false;
    if (is_number(value)) return number(value) != 0;
    if (const String* string = string_of(value)) return string->text.size() > 0;
    if (const List* list = list_of(value)) return !list->sized() || !list->items.empty();
    if (const Dict* dict = dict_of(value)) return !dict->entries().empty();
    return true;
}

const char* type_name(const Value& value) {
    constexpr const char* names[] = {"undefined", "None",        "bool",    "int",
                                     "float",     "str",         "list",    "dict",
                                     "Namespace", "LoopContext", "function"};
    constexpr const char* forms[] = {"list",        "tuple",      "range",    "dict_keys",
                                     "dict_values", "dict_items", "generator"};
    if (const List* list = list_of(value)) return forms[static_cast<size_t>(list->form)];
    return names[value.index()];
}

std::string words_of(const Undefined& undefined) {
    const std::string name = undefined.name ? undefined.name->text.bytes() : "";
    if (!undefined.owner) return "'" + name + "' is undefined";
    if (!undefined.name) return undefined.owner;
    return std::string("'") + undefined.owner + " object' has no attribute '" + name + "'";
}

void expect_defined(const Value& value) {
    if (const auto* undefined = get<Undefined>(value)) throw Error(words_of(*undefined));
}

}  // namespace tandem::model::jinja
