#include "model/tokenizer/pretokenizer.h"

#include <algorithm>

#include "gguf/error.h"
#include "model/tokenizer/expressions.h"
#include "model/tokenizer/script_expressions.h"

namespace tandem::model {
namespace {

using namespace expressions;

// The steps that the expressions and cuts named make, in their order.
template <const auto&... part>
constexpr Step steps[] = {Step(part)...};

constexpr Pretokenizer table[] = {
    {.names = "default", .steps = steps<default_punctuation, gpt2, numbers, three_ascii_digits>},
    {.names = "gpt-2 phi-2 gigachat a.x-4.0 mellum jina-es jina-de exaone4 mpt olmo jais "
              "jina-v1-en roberta-bpe trillion granite-docling",
     .steps = steps<gpt2>},
    {.names = "jina-v2-es jina-v2-de jina-v2-code",
     .steps = steps<gpt2>,
     .swallows_left = "<mask>"},
    {.names = "modern-bert", .steps = steps<gpt2>, .swallows_left = "[MASK]"},
    {.names = "llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano",
     .steps = steps<llama3>,
     .whole_pieces = true,
     .add_bos = true},
    {.names = "dbrx smaug-bpe", .steps = steps<llama3>},
    {.names = "glm4 chatglm-bpe", .steps = steps<llama3>, .default_bos = false},
    {.names = "jais-2", .steps = steps<llama3, cut_spaces_by_halves>},
    {.names = "qwen2 deepseek-r1-qwen kormo f2llmv2 hunyuan solar-open grok-2 megrez stablelm2 "
              "bailingmoe bailingmoe2 llada-moe",
     .steps = steps<qwen2>},
    {.names = "qwen35", .steps = steps<qwen35>},
    {.names = "gpt-4o llama4 kanana2 talkie minimax-m2", .steps = steps<o200k>},
    {.names = "granite-embed-multi-97m", .steps = steps<o200k>, .whole_pieces = true},
    {.names = "tiny_aya cohere2moe", .steps = steps<cut_whole_numbers, o200k>},
    {.names = "tekken", .steps = steps<tekken>, .whole_pieces = true, .add_bos = true},
    {.names = "youtu", .steps = steps<youtu_scripts, youtu>, .whole_pieces = true},
    {.names = "deepseek-llm",
     .steps = steps<each_line_break, deepseek_llm_words, deepseek_llm_punctuation, cut_last_spaces,
                    asian_words, numbers>},
    {.names = "deepseek-coder",
     .steps = steps<each_line_break, deepseek_coder_words, deepseek_coder_punctuation, asian_words,
                    each_number>},
    {.names = "deepseek-v3 hunyuan-dense joyai-llm",
     .steps = steps<numbers_by_three, han_and_kana, deepseek_v3>},
    {.names = "falcon", .steps = steps<falcon_punctuation, gpt2, three_ascii_digits>},
    {.names = "starcoder refact codeshell exaone minerva-7b mellum2 command-r smollm",
     .steps = steps<each_number, gpt2>},
    {.names = "kimi-k2", .steps = steps<kimi>},
    {.names = "gemma4 granite-embed-multi-311m sarvam-moe",
     .steps = steps<lines>,
     .whole_newlines = true,
     .byte_level = false,
     .escape_spaces = true},
    {.names = "minicpm5", .steps = steps<numbers_by_three, minicpm5>, .whole_pieces = true},
    {.names = "seed-coder", .steps = steps<seed_coder>},
    {.names = "exaone-moe", .steps = steps<exaone_moe>},
    {.names = "laguna", .steps = steps<lines, qwen2>},
    {.names = "afmoe", .steps = steps<cut_digits, afmoe_scripts, deepseek_v3>},
    {.names = "superbpe", .steps = steps<numbers, cut_thousands>},
    {.names = "bloom gpt3-finnish poro-chat", .steps = steps<bloom>},
    {.names = "viking", .steps = steps<bloom, each_number>},
    {.names = "chameleon",
     .steps = steps<sentinels, image_tokens, indents, each_number, each_punctuation, gpt2>,
     .add_bos = true},
    {.names = "whitespace", .steps = steps<words_between_spaces>, .byte_level = false},
};

bool lists(std::string_view names, std::string_view wanted) {
    while (!names.empty()) {
        const size_t end = std::min(names.find(' '), names.size());
        if (names.substr(0, end) == wanted) return true;
        names.remove_prefix(std::min(end + 1, names.size()));
    }
    return false;
}

}  // namespace

const Pretokenizer* find_pretokenizer(std::string_view name) {
    for (const Pretokenizer& row : table) {
        if (lists(row.names, name)) return &row;
    }
    return nullptr;
}

const Pretokenizer& known_pretokenizer(std::string_view name) {
    const Pretokenizer* known = find_pretokenizer(name);
    check(known != nullptr, "the pre-tokenizer is in the table");
    return *known;
}

}  // namespace tandem::model
