#include "cli/perplexity/base_file.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <utility>

#include "cli/perplexity/score.h"
#include "gguf/error.h"

namespace tandem::cli {

namespace {

constexpr std::string_view magic = "_logits_";
constexpr size_t units_of_head = 4;  // of a row: two floats, as units of a code

size_t row_units(int64_t vocab) { return units_of_head + size_t(vocab + 1) / 2 * 2; }

template <typename Value>
std::string_view bytes_of(const Value& value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

}  // namespace

BaseWriter::BaseWriter(std::string path, Interrupts* interrupts)
    : file_(std::move(path), "the predictions", interrupts) {}

void BaseWriter::begin(int64_t length, int64_t vocab, std::span<const int32_t> tokens) {
    const int64_t windows = int64_t(tokens.size()) / length;
    file_.write(magic);
    for (const int64_t number : {length, vocab, windows}) file_.write(bytes_of(int32_t(number)));
    file_.write({reinterpret_cast<const char*>(tokens.data()), tokens.size_bytes()});
    row_.assign(row_units(vocab), 0);
}

void BaseWriter::add(std::span<const float> logits) {
    check(row_units(int64_t(logits.size())) == row_.size(), "a prediction is of the vocabulary");
    constexpr float depth = 16;
    const auto [least_at, most_at] = std::minmax_element(logits.begin(), logits.end());
    const float most = *most_at, least = std::max(*least_at, most - depth);
    // That of the likeliest token is the logarithm of the sum.
    const double sum = negative_log_likelihood(logits, int32_t(most_at - logits.begin()));
    if (!std::isfinite(sum)) throw Error("the model's logits are not all numbers");
    const float scale = (most - least) / 65535, origin = least - most - float(sum);
    std::memcpy(row_.data(), &scale, sizeof scale);
    std::memcpy(row_.data() + 2, &origin, sizeof origin);
    constexpr float rounder = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
    uint16_t* const codes = row_.data() + units_of_head;
    for (size_t i = 0; i < logits.size(); ++i) {
        const float above = scale > 0 && logits[i] > least ? (logits[i] - least) / scale : 0;
        codes[i] = uint16_t(std::min(above + rounder - rounder, 65535.0f));
    }
    file_.write({reinterpret_cast<const char*>(row_.data()), row_.size() * sizeof row_[0]});
}

BaseReader::BaseReader(std::string path) : path_(std::move(path)) {
    if (path_.empty()) throw Error("no file of predictions given: --kl-divergence-base names it");
    if (std::filesystem::is_directory(path_)) fail("it is a directory");
    file_.open(path_, std::ios::binary);
    if (!file_)
        throw Error("cannot read the predictions from " + path_ + ": " + std::strerror(errno));
    char word[magic.size()];
    int32_t numbers[3];
    read(word, sizeof word);
    if (std::string_view(word, sizeof word) != magic)
        fail("the file does not begin with " + std::string(magic));
    read(numbers, sizeof numbers);
    length_ = numbers[0], vocab_ = numbers[1], windows_ = numbers[2];
    if (length_ < 3 || vocab_ < 1 || windows_ < 1)
        fail("the file claims " + std::to_string(windows_) + " windows of " +
             std::to_string(length_) + " tokens from " + std::to_string(vocab_));
    require_size();
    // A pipe has no size: what it claims is believed as far as it goes.
    constexpr int64_t piece = 1 << 20;
    for (int64_t left = windows_ * length_; left > 0; left -= piece) {
        const auto some = size_t(std::min(left, piece));
        tokens_.resize(tokens_.size() + some);
        read(tokens_.data() + tokens_.size() - some, some * sizeof tokens_[0]);
    }
}

// Before anything is allocated or takes time.
void BaseReader::require_size() {
    const double predictions = double(windows_) * double(length_ - 1 - length_ / 2);
    const double needed = 20 + 4.0 * double(windows_) * double(length_) +
                          2.0 * predictions * double(row_units(vocab_));
    std::error_code error;
    const auto size = std::filesystem::file_size(path_, error);
    if (!error && double(size) < needed) fail("the file is incomplete");
}

void BaseReader::fail(const std::string& why) const {
    throw Error("the predictions in " + path_ + " cannot be used: " + why);
}

void BaseReader::read(void* to, size_t bytes) {
    if (!file_.read(static_cast<char*>(to), std::streamsize(bytes))) fail("the file is incomplete");
}

BasePrediction BaseReader::next() {
    row_.resize(row_units(vocab_));
    read(row_.data(), row_.size() * sizeof row_[0]);
    BasePrediction prediction;
    std::memcpy(&prediction.scale, row_.data(), sizeof(float));
    std::memcpy(&prediction.least, row_.data() + 2, sizeof(float));
    // Of the likeliest token, which is no likelier than certain but for what the file rounds.
    const float best = prediction.scale * 65535 + prediction.least;
    if (!(prediction.scale >= 0) || !std::isfinite(prediction.least) || !(best < 0.01f))
        fail("one of them is no distribution");
    prediction.codes = std::span(row_).subspan(units_of_head, size_t(vocab_));
    return prediction;
}

}  // namespace tandem::cli
