// The parameters of sampling. Each sampler has a value that switches it off.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gguf/metadata.h"

namespace tandem::model {

struct Stage;

struct SamplingOptions {
    static constexpr uint32_t random_seed = 0xffffffff;  // a seed is drawn

    uint32_t seed = random_seed;
    std::vector<std::pair<int32_t, float>> biases;  // added to the logits of tokens
    std::vector<const Stage*> order;                // see default_order

    int64_t penalty_last_n = 64;  // accepted tokens that penalties look at; 0: off
    float repeat_penalty = 1;     // 1: off
    float frequency_penalty = 0;  // 0: off
    float presence_penalty = 0;   // 0: off
    float top_n_sigma = -1;       // 0 and less: off
    int64_t top_k = 40;           // 0 and less: off
    float typical_p = 1;          // 1 and more: off
    float top_p = 0.95f;          // 1 and more: off
    float min_p = 0.05f;          // 0 and less: off
    float xtc_probability = 0;    // 0 and less: off
    float xtc_threshold = 0.1f;   // above 0.5: off
    float temperature = 0.8f;     // 0 and less: the most likely token
    float temperature_range = 0;  // 0 and less: the temperature is fixed
    float temperature_exponent = 1;

    float dry_multiplier = 0;  // 0: off
    float dry_base = 1.75f;
    int64_t dry_allowed_length = 2;  // tokens that may be repeated at no cost
    int64_t dry_last_n = 64;         // accepted tokens that dry looks at; 0: off
    std::vector<std::string> dry_breakers{"\n", ":", "\"", "*"};  // texts, see Breakers

    float adaptive_target = -1;  // of adaptive_p, which `order` need not have; below 0: off
    float adaptive_decay = 0.9f;
    int64_t mirostat = 0;       // its version, which takes the place of `order`; 0: off
    float mirostat_target = 5;  // bits of surprise of each token
    float mirostat_rate = 0.1f;
};

// The defaults, with what the file recommends (general.sampling.*) in their place. What cannot be
// followed is named in `warnings`.
SamplingOptions recommended_sampling(const gguf::Metadata& metadata,
                                     std::vector<std::string>& warnings);
// Throws Error where a value makes no sense, naming it.
void require_sensible(const SamplingOptions& options);

}  // namespace tandem::model
