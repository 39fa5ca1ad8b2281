// Turns a stream of token pieces into text: a piece may end inside a UTF-8 sequence, so the last
// few bytes wait until the rest of their sequence has come.
#pragma once

#include <string>
#include <string_view>

namespace tandem::model {

class Utf8Stream {
  public:
    // Takes bytes in; gives back all that can be shown by now. Bytes that no later byte can make
    // valid are given back as they are.
    std::string push(std::string_view bytes);
    // Gives back what still waits: the end of the stream has come.
    std::string flush();
    bool waits() const { return !waiting_.empty(); }  // in the middle of a character

  private:
    std::string waiting_;  // the beginning of one sequence, 3 bytes at most
};

}  // namespace tandem::model
