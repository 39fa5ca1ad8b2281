// A JSON schema as rules of GBNF.
//
// What a rule has are values as they are written: members in the order of the schema, without
// repeated ones, numbers without more digits than serve, one kind of white space. So the grammar
// may have fewer texts than the schema, but none that the schema has not.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gguf/error.h"
#include "model/grammar/schema/keywords.h"

namespace tandem::model::grammar::schema {

class Converter {
  public:
    Converter(const Json& document, std::string source)
        : document_(document), source_(std::move(source)) {}

    std::string grammar();  // Throws Error, in the name of the source and with the place.

  private:
    [[noreturn]] void fail(const std::string& place, const std::string& what) const;
    // What `call` gives; errors of others get the place.
    template <typename Call>
    auto at(const std::string& place, const Call& call) const {
        try {
            return call();
        } catch (const Error& error) {
            fail(place, error.what());
        }
    }

    // Expressions: of any schema, of one whose parts are all together, of its values of a type.
    std::string convert(const Json& schema, const std::string& place);
    std::string convert_plain(const Json& schema, const std::string& place);
    std::string convert_type(const Json& schema, const std::string& type, const std::string& place);
    std::string convert_values(const Json& schema, const std::string& place);
    std::string alternatives(const Json& schema, const std::string& keyword,
                             const std::string& place);
    std::string object(const Json& schema, const std::string& place);
    std::string array(const Json& schema, const std::string& place);
    std::string text(const Json& schema, const std::string& place);
    std::string number(const Json& schema, bool whole, const std::string& place);

    // The members of an object, what stands in front of them, and the last.
    struct Member {
        std::string expression;
        bool required = false;
    };
    std::vector<Member> members(const Json& schema, const std::string& place);
    std::string sequence(const std::vector<Member>& members, const std::string& others);
    // A string that is none of these names of members.
    std::string other_name(const std::vector<std::string>& names, const std::string& place);
    std::string elements(std::span<const std::string> first, const std::string& rest, int64_t least,
                         int64_t most);

    void check_keywords(const Json& schema, const std::string& place) const;
    // Of a keyword that is a number of things; none: `fallback`.
    int64_t count(const Json& schema, const char* keyword, int64_t fallback,
                  const std::string& place) const;
    std::string reference(const Json& pointer, const std::string& place);
    const Json& target(const Json& pointer, const std::string& place) const;
    Json flatten(const Json& schema, const std::string& place);        // without $ref and allOf
    std::string inside(const Json& schema, const std::string& place);  // an object or an array

    std::string need(std::string_view shared);  // its name
    std::string rule(const std::string& kind, const std::string& body);
    std::string new_name(const std::string& kind);

    const Json& document_;
    const std::string source_;
    std::vector<std::pair<std::string, std::string>> rules_;
    std::set<std::string, std::less<>> needed_;
    std::map<std::string, std::string> references_;  // names of rules by where they point to
    std::set<std::string> open_;  // of these, those that are being read at this place of a text
    std::map<std::string, int> counters_;
    int depth_ = 0;
    int64_t work_ = 0;
};

}  // namespace tandem::model::grammar::schema
