// Chooses the next token: a chain of samplers over the logits, then a draw.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/sampler/adaptive.h"
#include "model/sampler/mirostat.h"
#include "model/sampler/stage.h"

namespace tandem::model {

// Throws Error where one of the logits is NaN or infinitely large.
void require_numbers(std::span<const float> logits);

// What may come next at all, whatever its logit.
struct Bounds {
    std::function<bool(int32_t token)> allows;
    // Sets the logits of all tokens that may not come to minus infinity.
    std::function<void(std::span<float> logits)> forbid;
};

class Sampler {
  public:
    // Throws Error where an option makes no sense. `tokenizer`, of the tokens, is needed by
    // samplers that look at their texts, dry and infill, as long as they run.
    explicit Sampler(SamplingOptions options, const Tokenizer* tokenizer = nullptr);

    // `logits` of all tokens. Throws Error where they are no numbers, or the options leave none to
    // draw from. Within bounds, a token outside of them is replaced by another draw from those
    // inside: asking after one token takes much less time than asking after all.
    int32_t sample(std::span<const float> logits, const Bounds* bounds = nullptr);
    // A token of the prompt, or the one that was chosen: penalties look back at it.
    void accept(int32_t token);
    void forget() { history_.clear(); }  // all of them

    uint32_t seed() const { return options_.seed; }  // the one in use
    // "logits -> ?penalties -> top-k -> dist": a question mark where a sampler is off.
    std::string describe() const;

  private:
    int32_t choose(std::span<const float> logits);
    size_t draw_one();  // of the candidates, the index
    // Lists the candidates; gives the first stage that they have not gone through.
    size_t list(std::span<const float> logits);
    // The logits with the biases added, which stay until the next call.
    std::span<const float> biased(std::span<const float> logits);

    SamplingOptions options_;
    History history_;
    const Tokenizer* tokenizer_;
    Breakers breakers_;            // of dry, where that is on
    std::vector<Random> randoms_;  // of the stages
    Random random_;                // of the draw
    std::optional<Mirostat> mirostat_;
    std::optional<Adaptive> adaptive_;
    Candidates candidates_;
    std::vector<float> biased_, bound_;
};

}  // namespace tandem::model
