#include "model/sampler/sampler.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <utility>

#include "gguf/error.h"
#include "model/sampler/draw.h"
#include "model/sampler/dry.h"

namespace tandem::model {

namespace {

bool draws(const Stage* stage) { return !stage->apply; }

// Mirostat leaves the temperature alone; what draws is at the end, once.
std::vector<const Stage*> chain_of(const SamplingOptions& options) {
    std::vector<const Stage*> order = options.order;
    if (options.mirostat != 0) {
        std::vector<std::string> warnings;
        order = stages_by_names("temperature", warnings);
    }
    const auto drawing = std::stable_partition(order.begin(), order.end(), std::not_fn(draws));
    if (drawing != order.end()) order.erase(drawing + 1, order.end());
    return order;
}

SamplingOptions checked(SamplingOptions options) {
    require_sensible(options);
    while (options.seed == SamplingOptions::random_seed) options.seed = std::random_device()();
    options.order = chain_of(options);
    if (options.mirostat != 0) options.temperature_range = 0;
    return options;
}

// None where nothing would look at them.
Breakers breakers_of(const SamplingOptions& options, const Tokenizer* tokenizer) {
    const bool needed = std::ranges::any_of(options.order, [&](const Stage* stage) {
        return stage->apply == dry && stage->active(options);
    });
    if (!needed || options.dry_breakers.empty()) return {};
    check(tokenizer != nullptr, "dry is given the tokenizer of its breakers");
    return Breakers(options.dry_breakers, *tokenizer);
}

}  // namespace

Sampler::Sampler(SamplingOptions options, const Tokenizer* tokenizer)
    : options_(checked(std::move(options))),
      history_(options_.penalty_last_n),
      tokenizer_(tokenizer),
      breakers_(breakers_of(options_, tokenizer)),
      randoms_(options_.order.size(), Random(options_.seed)),
      random_(options_.seed) {
    const std::vector<const Stage*>& order = options_.order;
    if (options_.mirostat != 0)
        mirostat_.emplace(options_.mirostat, options_.mirostat_target, options_.mirostat_rate);
    else if (!order.empty() && draws(order.back()) && order.back()->active(options_))
        adaptive_.emplace(options_.adaptive_target, options_.adaptive_decay);
}

size_t Sampler::list(std::span<const float> logits) {
    const auto& order = options_.order;
    const auto first = std::find_if(order.begin(), order.end(),
                                    [&](const Stage* stage) { return stage->active(options_); });
    if (first != order.end() && (*first)->begin) {
        (*first)->begin(candidates_, logits, options_);
        return size_t(first - order.begin()) + 1;
    }
    candidates_.assign(logits);
    return 0;
}

std::span<const float> Sampler::biased(std::span<const float> logits) {
    if (options_.biases.empty()) return logits;
    biased_.assign(logits.begin(), logits.end());
    for (auto [id, bias] : options_.biases)
        if (id >= 0 && size_t(id) < logits.size()) biased_[size_t(id)] += bias;
    return biased_;
}

void require_numbers(std::span<const float> logits) {
    int32_t strange = 0;  // counted, which goes many at a time
    for (float logit : logits) strange += !(logit < INFINITY);
    if (strange > 0)
        throw Error(
            "the model's answer is not a number: its weights are damaged, or their sums overflow; "
            "another copy of the file, another device (-dev) or a wider --reduce-type may help");
}

int32_t Sampler::choose(std::span<const float> logits) {
    for (size_t i = list(biased(logits)); i < options_.order.size(); ++i)
        if (!draws(options_.order[i]) && options_.order[i]->active(options_))
            options_.order[i]->apply(candidates_,
                                     {options_, history_, randoms_[i], &breakers_, tokenizer_});
    return candidates_.list[draw_one()].id;
}

size_t Sampler::draw_one() {
    if (mirostat_) return mirostat_->draw(candidates_, random_);
    if (adaptive_) return adaptive_->draw(candidates_, random_);
    return draw(candidates_, random_);
}

void Sampler::accept(int32_t token) {
    history_.accept(token);
    if (adaptive_) adaptive_->accept(token);
}

int32_t Sampler::sample(std::span<const float> logits, const Bounds* bounds) {
    require_numbers(logits);
    const int32_t token = choose(logits);
    if (!bounds || bounds->allows(token)) return token;
    bound_.assign(logits.begin(), logits.end());
    bounds->forbid(bound_);
    return choose(bound_);
}

std::string Sampler::describe() const {
    std::string text = options_.biases.empty() ? "logits" : "logits -> logit-bias";
    if (mirostat_) return text + " -> temp -> mirostat" + (options_.mirostat == 2 ? "-v2" : "");
    for (const Stage* stage : options_.order)
        text += (stage->active(options_) ? " -> " : " -> ?") + std::string(stage->shown);
    return text + (adaptive_ ? "" : " -> dist");
}

}  // namespace tandem::model
