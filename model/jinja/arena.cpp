#include "model/jinja/arena.h"

#include <algorithm>
#include <string>
#include <utility>

#include "gguf/error.h"
#include "model/tokenizer/utf8.h"

namespace tandem::model::jinja {
namespace {

constexpr size_t bytes_per_step = 64;  // that are copied or searched in the time of one

// Of an entry of a dict, with what finds it.
constexpr size_t entry_bytes = 4 * sizeof(Value);

}  // namespace

void Arena::spend(size_t steps) {
    if (steps > steps_left_) throw Error("the template takes too long: does it loop without end?");
    steps_left_ -= steps;
}

void Arena::hold(size_t bytes) {
    if (bytes > bytes_left_) throw Error("the template takes too much memory");
    bytes_left_ -= bytes;
}

void Arena::spend_on(const Value& value) {
    if (const String* string = string_of(value)) spend(string->text.size() / bytes_per_step);
    if (const List* list = list_of(value)) spend(list->items.size());
    if (const Dict* dict = dict_of(value)) spend(dict->entries().size());
}

void Arena::spend_on_search(const String& text, const String& part) {
    spend(text.text.size() / bytes_per_step * (1 + part.text.size() / 16));
}

const String* Arena::string(Text text) {
    hold(sizeof(String) + text.size() + text.given().size() * sizeof(ByteRange));
    spend(text.size() / bytes_per_step);
    const size_t characters = count_characters(text.bytes());
    return &strings_.emplace_back(String{std::move(text), characters});
}

List* Arena::list(Values items, List::Form form) {
    hold(sizeof(List) + items.size() * sizeof(Value));
    spend(items.size());
    return &lists_.emplace_back(List{std::move(items), form});
}

Dict* Arena::dict() {
    hold(sizeof(Dict));
    return &dicts_.emplace_back();
}

Namespace* Arena::name_space() {
    hold(sizeof(Namespace));
    return &namespaces_.emplace_back();
}

Loop* Arena::loop() {
    hold(sizeof(Loop));
    return &loops_.emplace_back();
}

const Function* Arena::function(const Function& function) {
    hold(sizeof(Function));
    return &functions_.emplace_back(function);
}

void Arena::append(List& list, const Value& value) {
    hold(sizeof(Value));
    list.items.push_back(value);
}

void Arena::set(Dict& dict, const Value& key, const Value& value) {
    hold(entry_bytes);
    spend_on(key);
    dict.set(key, value);
}

size_t count_characters(std::string_view bytes) {
    const auto is_ascii = [](char byte) { return static_cast<unsigned char>(byte) < 0x80; };
    if (std::all_of(bytes.begin(), bytes.end(), is_ascii)) return bytes.size();
    size_t count = 0;
    for (; !bytes.empty(); ++count) bytes.remove_prefix(front_character(bytes).size());
    return count;
}

}  // namespace tandem::model::jinja
