// A template's source as tokens: the text between tags, with the white space that tags take away
// already gone, and the words inside of tags.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tandem::model::jinja {

enum class TokenKind {
    Text,
    PrintBegin,
    PrintEnd,
    BlockBegin,
    BlockEnd,
    Name,
    String,
    Integer,
    Float,
    Operator,
    End
};

struct Token {
    TokenKind kind = TokenKind::End;
    std::string text;  // of strings without quotes and escapes
    int line = 1;
};

// Ends with a token End. Throws Error: "line 3: ...".
std::vector<Token> tokenize(std::string_view source);

// "line 3: ", the front of all messages.
std::string at_line(int line);

}  // namespace tandem::model::jinja
