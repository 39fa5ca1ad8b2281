// Encoding against the published results of the original tokenizers. The vocabularies may not be
// redistributed, so these tests need the full data set.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "data.h"
#include "gguf/file.h"
#include "model/tokenizer/tokenizer.h"

namespace tandem::model {
namespace {

std::string read(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

// The separator stands between the texts and, in most files, after the last one.
std::vector<std::string> read_texts(const std::filesystem::path& path) {
    static constexpr std::string_view separator = "\n__ggml_vocab_test__\n";
    const std::string all = read(path);
    std::vector<std::string> texts;
    size_t begin = 0;
    for (size_t end = all.find(separator); end != std::string::npos;
         end = all.find(separator, begin)) {
        texts.push_back(all.substr(begin, end - begin));
        begin = end + separator.size();
    }
    if (begin < all.size()) texts.push_back(all.substr(begin));
    return texts;
}

std::vector<std::vector<int32_t>> read_ids(const std::filesystem::path& path) {
    std::vector<std::vector<int32_t>> lists;
    std::istringstream lines(read(path));
    for (std::string line; std::getline(lines, line);) {
        std::istringstream numbers(line);
        auto& ids = lists.emplace_back();
        for (int32_t id = 0; numbers >> id;) ids.push_back(id);
    }
    return lists;
}

struct Vectors {
    const char* vocabulary;
    const char* texts;
    const char* ids;
    bool parse_special = false;
};

std::ostream& operator<<(std::ostream& out, const Vectors& vectors) {
    return out << vectors.ids << " with " << vectors.vocabulary;
}

class TokenizerVectors : public testing::TestWithParam<Vectors> {};

TEST_P(TokenizerVectors, come_out) {
    const auto [vocabulary, texts_file, ids_file, parse_special] = GetParam();
    const auto folder = test::shared("vocab");
    for (const char* name : {vocabulary, texts_file, ids_file}) {
        if (!std::filesystem::exists(folder / name)) GTEST_SKIP() << "no " << folder / name;
    }
    const auto file = gguf::File::open(folder / vocabulary, gguf::Content::Directory);
    const Tokenizer tokenizer(file.metadata(), vocabulary);
    const auto texts = read_texts(folder / texts_file);
    const auto ids = read_ids(folder / ids_file);
    ASSERT_EQ(texts.size(), ids.size());
    ASSERT_GE(texts.size(), 46U);
    for (size_t i = 0; i < texts.size(); ++i) {
        EXPECT_EQ(
            tokenizer.encode(texts[i], {.add_special = false, .parse_special = parse_special}),
            ids[i])
            << "text " << i << ": " << testing::PrintToString(texts[i]);
    }
}

constexpr Vectors all_vectors[] = {
    {"ggml-vocab-deepseek-coder.gguf", "ggml-vocab-deepseek-coder.gguf.inp",
     "ggml-vocab-deepseek-coder.gguf.out"},
    {"ggml-vocab-deepseek-llm.gguf", "ggml-vocab-deepseek-llm.gguf.inp",
     "ggml-vocab-deepseek-llm.gguf.out"},
    {"ggml-vocab-falcon.gguf", "ggml-vocab-falcon.gguf.inp", "ggml-vocab-falcon.gguf.out"},
    {"ggml-vocab-gpt-2.gguf", "ggml-vocab-gpt-2.gguf.inp", "ggml-vocab-gpt-2.gguf.out"},
    {"ggml-vocab-llama-bpe.gguf", "ggml-vocab-llama-bpe.gguf.inp", "ggml-vocab-llama-bpe.gguf.out"},
    {"ggml-vocab-llama-spm.gguf", "ggml-vocab-llama-spm.gguf.inp", "ggml-vocab-llama-spm.gguf.out"},
    {"ggml-vocab-mpt.gguf", "ggml-vocab-mpt.gguf.inp", "ggml-vocab-mpt.gguf.out"},
    {"ggml-vocab-phi-3.gguf", "ggml-vocab-phi-3.gguf.inp", "ggml-vocab-phi-3.gguf.out"},
    {"ggml-vocab-qwen2.gguf", "ggml-vocab-qwen2.gguf.inp", "ggml-vocab-qwen2.gguf.out"},
    {"ggml-vocab-refact.gguf", "ggml-vocab-refact.gguf.inp", "ggml-vocab-refact.gguf.out"},
    {"ggml-vocab-starcoder.gguf", "ggml-vocab-starcoder.gguf.inp", "ggml-vocab-starcoder.gguf.out"},
    // The ids of these texts are the same in both families.
    {"ggml-vocab-qwen2.gguf", "ggml-vocab-qwen35.gguf.inp", "ggml-vocab-qwen35.gguf.out"},
    {"ggml-vocab-deepseek-coder.gguf", "extra-deepseek-coder.inp", "extra-deepseek-coder.out"},
    {"ggml-vocab-deepseek-coder.gguf", "extra-deepseek-coder.inp",
     "extra-deepseek-coder.special.out", true},
    {"ggml-vocab-deepseek-llm.gguf", "extra-deepseek-llm.inp", "extra-deepseek-llm.out"},
    {"ggml-vocab-deepseek-llm.gguf", "extra-deepseek-llm.inp", "extra-deepseek-llm.special.out",
     true},
    {"ggml-vocab-falcon.gguf", "extra-falcon.inp", "extra-falcon.out"},
    {"ggml-vocab-falcon.gguf", "extra-falcon.inp", "extra-falcon.special.out", true},
    {"ggml-vocab-gpt-2.gguf", "extra-gpt-2.inp", "extra-gpt-2.out"},
    {"ggml-vocab-gpt-2.gguf", "extra-gpt-2.inp", "extra-gpt-2.special.out", true},
    {"ggml-vocab-llama-bpe.gguf", "extra-llama-bpe.inp", "extra-llama-bpe.out"},
    {"ggml-vocab-llama-bpe.gguf", "extra-llama-bpe.inp", "extra-llama-bpe.special.out", true},
    {"ggml-vocab-llama-spm.gguf", "extra-llama-spm.inp", "extra-llama-spm.out"},
    {"ggml-vocab-llama-spm.gguf", "extra-llama-spm.inp", "extra-llama-spm.special.out", true},
    {"ggml-vocab-llama4.gguf", "extra-llama4.inp", "extra-llama4.out"},
    {"ggml-vocab-llama4.gguf", "extra-llama4.inp", "extra-llama4.special.out", true},
    {"ggml-vocab-mpt.gguf", "extra-mpt.inp", "extra-mpt.out"},
    {"ggml-vocab-mpt.gguf", "extra-mpt.inp", "extra-mpt.special.out", true},
    {"ggml-vocab-phi-3.gguf", "extra-phi-3.inp", "extra-phi-3.out"},
    {"ggml-vocab-phi-3.gguf", "extra-phi-3.inp", "extra-phi-3.special.out", true},
    {"ggml-vocab-qwen2.gguf", "extra-qwen2.inp", "extra-qwen2.out"},
    {"ggml-vocab-qwen2.gguf", "extra-qwen2.inp", "extra-qwen2.special.out", true},
    {"ggml-vocab-refact.gguf", "extra-refact.inp", "extra-refact.out"},
    {"ggml-vocab-refact.gguf", "extra-refact.inp", "extra-refact.special.out", true},
    {"ggml-vocab-starcoder.gguf", "extra-starcoder.inp", "extra-starcoder.out"},
    {"ggml-vocab-starcoder.gguf", "extra-starcoder.inp", "extra-starcoder.special.out", true},
};

struct Example {
    const char* vocabulary;
    const char* text;
    std::vector<int32_t> ids;
};

// What the vectors do not show.
TEST(TokenizerExamples, come_out) {
    const Example examples[] = {
        // White space behind a special token goes with it.
        {"ggml-vocab-phi-3.gguf",
         "<|user|>\nHi <|end|>\n<|assistant|>\n",
         {32010, 6324, 29871, 32007, 32001}},
        // >>SUFFIX<< begins first, but <|endoftext|> is longer.
        {"ggml-vocab-falcon.gguf", ">>SUFFIX<<|endoftext|>", {500, 14723, 5164, 13645, 39, 11}},
    };
    for (const auto& [vocabulary, text, ids] : examples) {
        const auto path = test::shared("vocab") / vocabulary;
        if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
        const auto file = gguf::File::open(path, gguf::Content::Directory);
        const Tokenizer tokenizer(file.metadata(), vocabulary);
        EXPECT_EQ(tokenizer.encode(text, {.add_special = false}), ids) << text;
    }
}

INSTANTIATE_TEST_SUITE_P(Published, TokenizerVectors, testing::ValuesIn(all_vectors));

}  // namespace
}  // namespace tandem::model
