// Chains said by the user.
#include <algorithm>
#include <cctype>

#include "gguf/fault.h"
#include "model/sampler/stage.h"

namespace tandem::model {

namespace {

// Names without a sampler, each once: files, too, say chains.
class Unknown {
  public:
    void add(std::string_view name) {
        const std::string shown = gguf::in_quotes(name);
        if (std::ranges::find(names_, shown) == names_.end()) names_.push_back(shown);
    }
    void warn(std::vector<std::string>& warnings) const {
        if (names_.empty()) return;
        std::string known, unknown;
        for (const Stage& stage : stages())
            known +=
                (known.empty() ? "" : ", ") + std::string(stage.name) + " (" + stage.letter + ")";
        for (const std::string& name : names_) unknown += (unknown.empty() ? "" : ", ") + name;
        warnings.push_back((names_.size() == 1
                                ? "there is no sampler " + unknown + ", it is"
                                : "there are no samplers " + unknown + ", they are") +
                           " left out; there are " + known);
    }

  private:
    std::vector<std::string> names_;
};

}  // namespace

std::vector<const Stage*> default_order() {
    std::vector<std::string> warnings;
    return stages_by_letters("edskypmxt", warnings);
}

std::vector<const Stage*> stages_by_letters(std::string_view letters,
                                            std::vector<std::string>& warnings) {
    std::vector<const Stage*> order;
    Unknown unknown;
    for (char letter : letters) {
        auto stage = std::find_if(stages().begin(), stages().end(),
                                  [&](const Stage& s) { return s.letter == letter; });
        if (stage != stages().end())
            order.push_back(&*stage);
        else
            unknown.add(std::string_view(&letter, 1));
    }
    unknown.warn(warnings);
    return order;
}

std::vector<const Stage*> stages_by_names(std::string_view names,
                                          std::vector<std::string>& warnings) {
    std::vector<const Stage*> order;
    Unknown unknown;
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
        else
            unknown.add(said);
    }
    unknown.warn(warnings);
    return order;
}

}  // namespace tandem::model
