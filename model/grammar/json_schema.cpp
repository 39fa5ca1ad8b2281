#include "model/grammar/json_schema.h"

#include "gguf/error.h"
#include "model/grammar/schema/converter.h"

namespace tandem::model::grammar {

namespace {

constexpr int most_nested = 500;  // brackets, so that what walks through values is not too deep

int nesting(std::string_view text) {
    int depth = 0, most = 0;
    bool in_string = false;
    for (size_t i = 0; i < text.size(); ++i) {
        if (in_string && text[i] == '\\')
            ++i;
        else if (text[i] == '"')
            in_string = !in_string;
        else if (!in_string && (text[i] == '{' || text[i] == '['))
            most = std::max(most, ++depth);
        else if (!in_string && (text[i] == '}' || text[i] == ']'))
            --depth;
    }
    return most;
}

}  // namespace

std::string grammar_of_schema(std::string_view text, const std::string& source) {
    if (nesting(text) > most_nested)
        throw Error(source + ": the JSON schema has more than " + std::to_string(most_nested) +
                    " brackets inside each other");
    try {
        const schema::Json document = schema::Json::parse(text);
        return schema::Converter(document, source).grammar();
    } catch (const schema::Json::parse_error& error) {
        throw Error(source + ": the JSON schema is no JSON from byte " +
                    std::to_string(error.byte) + " on");
    } catch (const schema::Json::exception& error) {
        throw Error(source +
                    ": the JSON schema has a value of another kind than its keyword "
                    "takes: " +
                    error.what());
    }
}

}  // namespace tandem::model::grammar
