// Texts that end a generation (-r), wherever tokens divide them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::cli {

class StopTexts {
  public:
    StopTexts() = default;
    // None of them empty.
    explicit StopTexts(std::vector<std::string> texts);

    void begin() { before_.clear(); }  // a new text
    // Takes what the text goes on with. Gives how many bytes of it there are up to the end of the
    // first of the texts; none where none ends in it.
    std::optional<size_t> find_end(std::string_view piece);
    bool has(std::string_view text) const;  // as one of them

  private:
    std::vector<std::string> texts_;
    size_t longest_ = 0;
    std::string before_;  // as much as may be the beginning of one
};

}  // namespace tandem::cli
