#include "cli/synth/presets.h"

#include <cctype>
#include <string>

#include "cli/synth/family.h"
#include "gguf/error.h"

namespace tandem::cli {

namespace {

std::string plain(std::string_view name) {
    std::string letters;
    for (char c : name)
        if (std::isalnum(static_cast<unsigned char>(c)))
            letters += char(std::tolower(static_cast<unsigned char>(c)));
    return letters;
}

}  // namespace

std::vector<const Preset*> presets() {
    std::vector<const Preset*> all;
    for (const synth::Family* family : synth::families_table())
        for (const Preset& preset : family->presets) all.push_back(&preset);
    return all;
}

const Preset& find_preset(std::string_view name) {
    std::string known;
    for (const Preset* preset : presets()) {
        if (plain(preset->name) == plain(name) ||
            (!preset->alias.empty() && plain(preset->alias) == plain(name)))
            return *preset;
        known += (known.empty() ? "" : ", ") + std::string(preset->name);
    }
    throw Error("there is no preset \"" + std::string(name) + "\": choose one of " + known);
}

std::string_view size_class(const gguf::Metadata& metadata) {
    const std::string architecture = metadata.text("general.architecture").value_or("");
    auto number = [&](const char* key) {
        return metadata.integer(architecture + "." + key).value_or(0);
    };
    for (const Preset* preset : presets())
        if (preset->architecture == architecture && preset->blocks == number("block_count") &&
            preset->embd == number("embedding_length") &&
            preset->experts.count == number("expert_count") &&
            // Models of one shape differ in their vocabularies.
            (architecture != "llama" || preset->size != "7B" ||
             metadata.texts("tokenizer.ggml.tokens").size() < 40000))
            return preset->size;
    return "?B";
}

}  // namespace tandem::cli
