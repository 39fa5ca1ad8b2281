// Chains said by the user.
#include <algorithm>
#include <cctype>

#include "model/sampler/stage.h"

namespace tandem::model {

namespace {

// Samplers of other programs. The first is off unless it is asked for by its own options, which do
// not exist here, so that leaving it out changes nothing.
constexpr std::string_view harmless_name = "dry";
constexpr char harmless_letter = 'd';

void warn(const std::string& what, std::vector<std::string>& warnings) {
    std::string known;
    for (const Stage& stage : stages())
        known += (known.empty() ? "" : ", ") + std::string(stage.name) + " (" + stage.letter + ")";
    warnings.push_back("there is no sampler \"" + what + "\", it is left out; there are " + known);
}

}  // namespace

std::vector<const Stage*> default_order() {
    std::vector<const Stage*> order;
    for (const Stage& stage : stages()) order.push_back(&stage);
    return order;
}

std::vector<const Stage*> stages_by_letters(std::string_view letters,
                                            std::vector<std::string>& warnings) {
    std::vector<const Stage*> order;
    for (char letter : letters) {
        auto stage = std::find_if(stages().begin(), stages().end(),
                                  [&](const Stage& s) { return s.letter == letter; });
        if (stage != stages().end())
            order.push_back(&*stage);
        else if (letter != harmless_letter)
            warn(std::string(1, letter), warnings);
    }
    return order;
}

std::vector<const Stage*> stages_by_names(std::string_view names,
                                          std::vector<std::string>& warnings) {
    std::vector<const Stage*> order;
    while (!names.empty()) {
        std::string_view said = names.substr(0, names.find(';'));
        names.remove_prefix(std::min(names.size(), said.size() + 1));
        std::string name(said);
        for (char& c : name) c = c == '-' ? '_' : char(std::tolower(uint8_t(c)));
        auto stage = std::find_if(stages().begin(), stages().end(), [&](const Stage& s) {
            return s.name == name || s.other.find("|" + name + "|") != std::string_view::npos;
        });
        if (stage != stages().end())
            order.push_back(&*stage);
        else if (name != harmless_name)
            warn(std::string(said), warnings);
    }
    return order;
}

}  // namespace tandem::model
