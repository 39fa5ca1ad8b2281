#include "models/perplexity.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "cli/perplexity/windows.h"
#include "model/tokenizer/tokenizer.h"

namespace tandem::test {

std::string read_text(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

double perplexity(const gguf::File& file, cli::EngineOptions options,
                  std::span<const int32_t> tokens, int64_t length, int64_t count) {
    options.model.slots = std::max<int64_t>(1, 512 / length);
    options.plan.bucket = 512;
    cli::Engine engine(file, options);
    const model::Tokenizer tokenizer(file.metadata(), file.path());
    const cli::Windows windows{.tokens = tokens,
                               .length = length,
                               .count = count,
                               .first_token = *tokenizer.bos(),
                               .slots = options.model.slots};
    cli::Likelihoods total;
    evaluate(engine.executor(), windows, [&](int64_t, const cli::Likelihoods& own) {
        total.sum += own.sum;
        total.count += own.count;
    });
    return total.perplexity();
}

}  // namespace tandem::test
