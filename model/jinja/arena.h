// Who owns the values of one rendering, and counts what it costs: a template comes out of a file,
// and none may take all memory, or forever.
#pragma once

#include <cstddef>
#include <deque>
#include <string_view>

#include "model/jinja/value.h"

namespace tandem::model::jinja {

class Arena {
  public:
    // Bytes beyond a fixed amount that the rendering's own input excuses.
    void allow(size_t bytes) { bytes_left_ += bytes; }

    // Work, in about the time that it takes to evaluate a small expression. Throws Error when it
    // was too much.
    void spend(size_t steps);
    // Memory, likewise. Strings, lists and the like stay until the rendering ends.
    void hold(size_t bytes);
    void release(size_t bytes) { bytes_left_ += bytes; }
    // Work that goes through all of a value once.
    void spend_on(const Value& value);
    // Work of a search, at its worst.
    void spend_on_search(const String& text, const String& part);

    const String* string(Text text);
    const String* string(std::string_view bytes, bool given = false) {
        return string(Text(std::string(bytes), given));
    }
    List* list(Values items, List::Form form = List::Form::List);
    List* tuple(Values items) { return list(std::move(items), List::Form::Tuple); }
    Dict* dict();
    Namespace* name_space();
    Loop* loop();
    const Function* function(const Function& function);

    void append(List& list, const Value& value);
    void set(Dict& dict, const Value& key, const Value& value);

  private:
    size_t steps_left_ = 5'000'000;
    size_t bytes_left_ = size_t{64} << 20;

    std::deque<String> strings_;
    std::deque<List> lists_;
    std::deque<Dict> dicts_;
    std::deque<Namespace> namespaces_;
    std::deque<Loop> loops_;
    std::deque<Function> functions_;
};

// Code points of a text.
size_t count_characters(std::string_view bytes);

}  // namespace tandem::model::jinja
