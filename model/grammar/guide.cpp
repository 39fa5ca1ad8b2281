#include "model/grammar/guide.h"

#include <cmath>
#include <utility>

#include "gguf/error.h"

namespace tandem::model::grammar {

Guide::Guide(Grammar grammar, const Tokenizer& tokenizer, bool special)
    : matcher_(std::move(grammar)), tokenizer_(&tokenizer), special_(special) {
    begin();
}

bool Guide::push(Matcher::Position& position, std::string_view text) {
    for (const char byte : text)
        if (!matcher_.push(position, uint8_t(byte))) return false;
    return !text.empty() && matcher_.goes_on(position);
}

bool Guide::allows(int32_t token) {
    if (tokenizer_->ends_generation(token)) return can_end();
    Matcher::Position position = position_;
    return push(position, tokenizer_->piece(token, special_));
}

void Guide::accept(int32_t token) {
    if (tokenizer_->ends_generation(token)) return;
    const bool goes_on = push(position_, tokenizer_->piece(token, special_));
    check(goes_on, "a token that is accepted was allowed");
    matcher_.tidy({&position_, 1});
}

std::vector<bool> Guide::allowed() {
    if (order_.tokens().empty()) {
        std::vector<std::string_view> texts;
        for (int32_t id = 0; id < tokenizer_->size(); ++id)
            texts.push_back(tokenizer_->piece(id, special_));
        order_ = TokenOrder(texts);
    }
    std::vector<bool> allowed(size_t(tokenizer_->size()));
    // Where the text would stand behind each byte of the last token that was looked at.
    std::vector<Matcher::Position> positions(order_.longest() + 1);
    positions[0] = position_;
    size_t known = 0;  // bytes of it that the text can go on with
    for (const OrderedToken& token : order_.tokens()) {
        if (token.shared > known) continue;  // the byte behind those is wrong again
        known = token.shared;
        while (known < token.text.size()) {
            positions[known + 1] = positions[known];
            if (!matcher_.push(positions[known + 1], uint8_t(token.text[known]))) break;
            ++known;
        }
        if (known == token.text.size() && matcher_.goes_on(positions[known]))
            allowed[size_t(token.id)] = true;
        matcher_.tidy({positions.data(), known + 1});
    }
    position_ = positions[0];
    return allowed;
}

void Guide::forbid(std::span<float> logits) {
    std::vector<bool> some = allowed();
    for (const int32_t end : tokenizer_->special_ids().generation_ends)
        if (end >= 0 && size_t(end) < some.size()) some[size_t(end)] = can_end();
    for (size_t id = 0; id < logits.size(); ++id)
        if (id >= some.size() || !some[id]) logits[id] = -INFINITY;
}

}  // namespace tandem::model::grammar
