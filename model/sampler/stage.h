// The samplers that a chain may be made of. One row each in the table of stages.
//
// All look at a list of candidates and either shorten it or change logits. Formulas in f32, sums in
// the order of the list.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/sampler/breakers.h"
#include "model/sampler/candidates.h"
#include "model/sampler/history.h"
#include "model/sampler/options.h"
#include "model/sampler/random.h"

namespace tandem::model {

// What a sampler may look at beside the candidates.
struct StageState {
    const SamplingOptions& options;
    const History& history;
    Random& random;                        // of this sampler alone
    const Breakers* breakers = nullptr;    // for dry
    const Tokenizer* tokenizer = nullptr;  // for infill
};

struct Stage {
    std::string_view name;   // "top_k"
    std::string_view other;  // names that are also understood, between bars: "|topk|"
    char letter;
    std::string_view shown;  // in the printed chain: "top-k"
    bool (*active)(const SamplingOptions& options);
    // Null: it is not applied, but draws, at the end of the chain wherever it is named.
    void (*apply)(Candidates& candidates, StageState state);
    // The same of all tokens, without a list of them, where nothing came before; null: by a list.
    void (*begin)(Candidates& candidates, std::span<const float> logits,
                  const SamplingOptions& options) = nullptr;
};

std::span<const Stage> stages();
// penalties, dry, top_n_sigma, top_k, typ_p, top_p, min_p, xtc, temperature.
std::vector<const Stage*> default_order();
// An order said by letters, "kpmt", or by names, "top_k;top_p", in any case and with - or _. What
// does not exist is left out and named in `warnings`.
std::vector<const Stage*> stages_by_letters(std::string_view letters,
                                            std::vector<std::string>& warnings);
std::vector<const Stage*> stages_by_names(std::string_view names,
                                          std::vector<std::string>& warnings);

}  // namespace tandem::model
