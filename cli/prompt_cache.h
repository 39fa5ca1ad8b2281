// What a model knows of a text, kept in a file from one run to the next.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/driver.h"
#include "cli/interrupts.h"
#include "cli/options.h"
#include "cli/state_file.h"
#include "gguf/file.h"

namespace tandem::cli {

extern const OptionGroup prompt_cache_options;  // --prompt-cache and relatives

class PromptCache {
  public:
    // The file that the options name; where they name none, nothing is known and nothing kept.
    // Throws Error where it is of another model, or damaged, or cannot be written.
    PromptCache(const Arguments& arguments, const gguf::File& model, const Interrupts& interrupts);

    // All tokens that the file has; none where there is no file yet.
    std::span<const int32_t> text() const;
    // Brings what is known of a prompt to the devices: so many of its tokens, never the last, whose
    // logits are to come. `notes` says what there was. Throws Error where the file is damaged, or
    // its caches have other types than those of this run.
    int64_t restore(const Driver& driver, std::span<const int32_t> prompt,
                    std::vector<std::string>& notes) const;

    bool covers(std::span<const int32_t> prompt) const;  // the file has all of it
    bool keeps() const { return keeps_; }                // what has been evaluated
    bool keeps_all() const { return keeps_all_; }        // what was generated, too
    // Writes the file anew; all of the text but the last token has been evaluated, and nothing is
    // on its way.
    void keep(const Driver& driver, std::span<const int32_t> text);

  private:
    void require_model() const;
    void require_states(const graph::Graph& graph, std::span<const StateHead::State> states) const;

    const Interrupts& interrupts_;
    const std::string path_;  // empty: none
    const bool keeps_, keeps_all_;
    uint64_t model_ = 0;
    std::string name_;  // of the model
    std::optional<StateFile> file_;
};

}  // namespace tandem::cli
