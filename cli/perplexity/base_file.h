// The predictions of one model as another is compared with: the file that llama-perplexity writes
// and reads (--kl-divergence-base), little-endian:
//
//     "_logits_", u32 length, i32 vocab, i32 windows, i32 tokens [windows][length]
//     of each prediction: f32 scale, f32 least, u16 codes [vocab], padded to 4 bytes
//
// A log-probability is scale * code + least. What is 16 below the best or lower is the least.
#pragma once

#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "cli/output_file.h"

namespace tandem::cli {

struct BasePrediction {
    float scale = 0, least = 0;
    std::span<const uint16_t> codes;  // [vocab]

    float log_probability(size_t token) const { return scale * float(codes[token]) + least; }
};

class BaseWriter {
  public:
    // `tokens`: [windows][length].
    BaseWriter(std::string path, Interrupts* interrupts);
    void begin(int64_t length, int64_t vocab, std::span<const int32_t> tokens);
    void add(std::span<const float> logits);
    void finish() { file_.finish(); }

  private:
    OutputFile file_;
    std::vector<uint16_t> row_;
};

// Throws Error naming the file, where it is none of these or ends early.
class BaseReader {
  public:
    explicit BaseReader(std::string path);

    int64_t length() const { return length_; }    // of a window
    int64_t vocab() const { return vocab_; }      // log-probabilities of a prediction
    int64_t windows() const { return windows_; }  // the second half of each is predicted
    std::span<const int32_t> tokens() const { return tokens_; }

    BasePrediction next();  // which stays until the next call

  private:
    [[noreturn]] void fail(const std::string& why) const;
    void read(void* to, size_t bytes);
    void require_size();

    std::string path_;
    std::ifstream file_;
    int64_t length_ = 0, vocab_ = 0, windows_ = 0;
    std::vector<int32_t> tokens_;
    std::vector<uint16_t> row_;
};

}  // namespace tandem::cli
