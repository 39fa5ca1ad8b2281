// How well a model predicts a text.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "cli/engine.h"

namespace tandem::test {

std::string read_text(const std::filesystem::path& path);

// Over the first `count` windows of `length` tokens, by the rules of `tandem perplexity`. The
// options' context is that length; sequences and the size of a step are set here.
double perplexity(const gguf::File& file, cli::EngineOptions options,
                  std::span<const int32_t> tokens, int64_t length, int64_t count);

}  // namespace tandem::test
