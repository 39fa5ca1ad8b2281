#include "cli/nearest.h"

#include <algorithm>
#include <vector>

namespace tandem::cli {

namespace {

constexpr size_t fewest_letters = 3, letters_of_a_slip = 4;

std::string_view without_dashes(std::string_view word) {
    return word.substr(std::min(word.find_first_not_of('-'), word.size()));
}

// Optimal string alignment: Levenshtein's distance, in which neighbours that change places are one
// slip. Row i of the table holds the distances of a's first i letters to all beginnings of b.
size_t slips_between(std::string_view a, std::string_view b) {
    std::vector<std::vector<size_t>> table(a.size() + 1, std::vector<size_t>(b.size() + 1));
    for (size_t i = 0; i <= a.size(); ++i)
        for (size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                table[i][j] = i + j;
                continue;
            }
            const size_t wrong = a[i - 1] == b[j - 1] ? 0 : 1;
            table[i][j] =
                std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + wrong});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
        }
    return table[a.size()][b.size()];
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> names) {
    const std::string_view letters = without_dashes(word);
    if (letters.size() < fewest_letters) return {};
    size_t least = std::max<size_t>(1, letters.size() / letters_of_a_slip) + 1;
    std::string best;
    for (const std::string& name : names) {
        const std::string_view known = without_dashes(name);
        const size_t longer = std::max(known.size(), letters.size());
        if (known.size() < fewest_letters ||
            longer - std::min(known.size(), letters.size()) >= least)
            continue;
        if (const size_t slips = slips_between(letters, known); slips < least) {
            least = slips;
            best = name;
        }
    }
    return best;
}

}  // namespace tandem::cli
