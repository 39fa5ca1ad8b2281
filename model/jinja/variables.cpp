#include "model/jinja/variables.h"

#include <string>

#include "gguf/error.h"

namespace tandem::model::jinja {
namespace {

constexpr int deepest = 100;

// How often a template may copy all that it is given.
constexpr size_t copies = 64;

class Reader {
  public:
    Reader(Arena& arena, bool given) : arena_(arena), given_(given) {}

    Value read(const nlohmann::ordered_json& json, bool role, int depth) {
        if (depth > deepest) throw Error("the variables are nested too deeply");
        if (json.is_boolean()) return json.get<bool>();
        if (json.is_number_float()) return json.get<double>();
        if (json.is_number_unsigned() && json.get<uint64_t>() > INT64_MAX)
            throw Error("the number " + json.dump() + " needs more than 64 bits");
        if (json.is_number()) return json.get<int64_t>();
        if (json.is_string()) return string(json.get_ref<const std::string&>(), given_ && !role);
        if (json.is_array()) {
            List* list = arena_.list({});
            for (const auto& element : json) list->items.push_back(read(element, false, depth + 1));
            return list;
        }
        if (!json.is_object()) return None{};
        Dict* dict = arena_.dict();
        for (const auto& [key, value] : json.items())
            dict->set(string(key, false), read(value, key == "role", depth + 1));
        return dict;
    }

  private:
    const String* string(const std::string& text, bool given) {
        arena_.allow(copies * (text.size() + sizeof(String)));
        return arena_.string(text, given);
    }

    Arena& arena_;
    bool given_;
};

}  // namespace

Value value_of(Arena& arena, const nlohmann::ordered_json& json, bool given) {
    return Reader(arena, given).read(json, false, 0);
}

}  // namespace tandem::model::jinja
