#include "cli/synth/special_tokens.h"

#include "gguf/error.h"

namespace tandem::cli::synth {

namespace {

using enum TokenType;

constexpr Special spm[] = {{0, "<unk>", Unknown}, {1, "<s>"}, {2, "</s>"}};
constexpr Special gemma3[] = {{0, "<pad>"},
                              {1, "<eos>"},
                              {2, "<bos>"},
                              {3, "<unk>", Unknown},
                              {105, "<start_of_turn>"},
                              {106, "<end_of_turn>"}};
constexpr Special gemma4[] = {{0, "<pad>"},          {1, "<eos>"},     {2, "<bos>"},
                              {3, "<unk>", Unknown}, {105, "<|turn>"}, {106, "<turn|>"}};
constexpr Special llama3[] = {{128000, "<|begin_of_text|>"},   {128001, "<|end_of_text|>"},
                              {128006, "<|start_header_id|>"}, {128007, "<|end_header_id|>"},
                              {128008, "<|eom_id|>"},          {128009, "<|eot_id|>"}};
constexpr Special tekken[] = {{0, "<unk>"}, {1, "<s>"}, {2, "</s>"}, {3, "[INST]"}, {4, "[/INST]"}};
constexpr Special qwen[] = {
    {151643, "<|endoftext|>"}, {151644, "<|im_start|>"}, {151645, "<|im_end|>"}};
constexpr Special qwen35[] = {
    {248044, "<|endoftext|>"}, {248045, "<|im_start|>"}, {248046, "<|im_end|>"}};
constexpr Special o200k[] = {
    {199998, "<|startoftext|>"}, {199999, "<|endoftext|>"}, {200002, "<|return|>"},
    {200003, "<|constrain|>"},   {200005, "<|channel|>"},   {200006, "<|start|>"},
    {200007, "<|end|>"},         {200008, "<|message|>"},   {200012, "<|call|>"}};
constexpr Special glm[] = {{151329, "<|endoftext|>"},  {151331, "[gMASK]"},
                           {151333, "<sop>"},          {151335, "<|system|>"},
                           {151336, "<|user|>"},       {151337, "<|assistant|>"},
                           {151338, "<|observation|>"}};
constexpr Special kimi[] = {{163584, "[BOS]"},
                            {163585, "[EOS]"},
                            {163586, "<|im_end|>"},
                            {163587, "<|im_user|>"},
                            {163588, "<|im_assistant|>"}};
constexpr Special deepseek_llm[] = {{100000, "<begin_of_sentence>"}, {100001, "<end_of_sentence>"}};
constexpr Special deepseek3[] = {
    {0, "<begin_of_sentence>"}, {1, "<end_of_sentence>"}, {2, "<pad>"}};

struct Row {
    Vocabulary kind;
    SpecialTokens tokens;
};
constexpr Row table[] = {
    {Vocabulary::Spm, {"llama", "", 0, 3, "", "", Control, spm, 1, 2, true}},
    {Vocabulary::Gemma3, {"llama", "default", 0, 107, "<unused", ">", Unused, gemma3, 2, 1, true}},
    {Vocabulary::Gemma4, {"gemma4", "", 0, 107, "<unused", ">", Unused, gemma4, 2, 106, true}},
    {Vocabulary::Llama3,
     {"gpt2", "llama-bpe", 128000, 0, "<|reserved_special_token_", "|>", Control, llama3, 128000,
      128009, true}},
    {Vocabulary::Tekken,
     {"gpt2", "tekken", 0, 1000, "<SPECIAL_", ">", Control, tekken, 1, 2, true}},
    {Vocabulary::Qwen,
     {"gpt2", "qwen2", 151643, 0, "[PAD", "]", Unused, qwen, 151643, 151645, false}},
    {Vocabulary::Qwen35,
     {"gpt2", "qwen35", 248044, 0, "[PAD", "]", Unused, qwen35, 248044, 248046, false}},
    {Vocabulary::O200k,
     {"gpt2", "gpt-4o", 199998, 0, "<|reserved_", "|>", Control, o200k, 199998, 200002, false}},
    {Vocabulary::Glm, {"gpt2", "glm4", 151329, 0, "[PAD", "]", Unused, glm, 151331, 151329, false}},
    {Vocabulary::Kimi,
     {"gpt2", "kimi-k2", 163584, 0, "<|reserved_token_", "|>", Control, kimi, 163584, 163586,
      false}},
    {Vocabulary::DeepSeekLlm,
     {"gpt2", "deepseek-llm", 100000, 0, "[PAD", "]", Unused, deepseek_llm, 100000, 100001, true}},
    {Vocabulary::DeepSeek3, {"gpt2", "deepseek-v3", 0, 3, "", "", Control, deepseek3, 0, 1, true}},
};

}  // namespace

const SpecialTokens& special_tokens(Vocabulary kind) {
    for (const Row& row : table)
        if (row.kind == kind) return row.tokens;
    check(false, "every vocabulary is in the table");
    return table[0].tokens;
}

}  // namespace tandem::cli::synth
