#include "models/mapping.h"

namespace tandem::test {

std::string to_string(const Mapping& mapping) {
    std::string text =
        "-sm " + std::string(mapping.mode) + " on " + std::to_string(mapping.devices);
    for (size_t i = 0; i < mapping.ratio.size(); ++i)
        text += (i == 0 ? " " : ",") + std::to_string(int(mapping.ratio[i]));
    for (const parallel::Home& home : mapping.homes)
        text += ", " + home.pattern + " on " + parallel::to_string(home.group);
    return text;
}

}  // namespace tandem::test
