// Conversations as prompts: what stands around a template.
#include "model/chat/chat_template.h"

#include <gtest/gtest.h>

#include "gguf/error.h"
#include "model/chat/named_templates.h"
#include "tokenizer/small_vocabulary.h"

namespace tandem::model {
namespace {

using test::error_of;
using test::Ids;
using test::small_vocabulary;
using test::spm_tokens;

// <unk> <s> </s>, bytes, then <|user|> and <|end|>.
constexpr int32_t user = 259, end = 260;

Tokenizer tokenizer_of(bool adds_bos = true) {
    gguf::Metadata metadata = small_vocabulary(
        "llama", spm_tokens({{"<|user|>", TokenType::Control}, {"<|end|>", TokenType::Control}}));
    for (const char* flag : {"add_bos_token", "add_space_prefix"})
        metadata.set("tokenizer.ggml." + std::string(flag),
                     {.type = gguf::ValueType::Bool,
                      .elements = std::vector<int64_t>{adds_bos && flag[4] == 'b'}});
    return {metadata, "small.gguf"};
}

const std::vector<Message> hello = {{.role = "user", .content = "Hello"}};
const std::vector<Message> with_system = {{.role = "system", .content = "Be kind."},
                                          {.role = "user", .content = "Hello"}};

std::string rendered(const std::string& source, const std::vector<Message>& messages,
                     ChatOptions options = {}) {
    const Tokenizer tokenizer = tokenizer_of();
    return ChatTemplate(source, tokenizer, std::move(options)).render(messages).bytes();
}

TEST(ChatTemplate, sees_the_variables_of_the_field) {
    EXPECT_EQ(rendered("{{ bos_token }}|{{ eos_token }}|{{ add_generation_prompt }}|"
                       "{{ enable_thinking }}|{{ thinking }}|{{ tools is defined }}|"
                       "{{ messages[0].content }}",
                       hello),
              "<s>|</s>|True|True|True|False|Hello");
    std::tm now = {};
    now.tm_year = 126, now.tm_mon = 0, now.tm_mday = 5;
    ChatOptions options{.thinking = false, .now = now};
    options.variables = {{"effort", "high"}, {"datetime", "never"}};
    EXPECT_EQ(rendered("{{ messages[0].content }} {{ enable_thinking }} {{ date_string }} "
                       "{{ datetime }} {{ effort }} {{ strftime_now('%Y') }}",
                       hello, options),
              "Hello False 05 Jan 2026 never high 2026");
}

TEST(ChatTemplate, gives_thoughts_back) {
    EXPECT_EQ(
        rendered("{% for m in messages %}{{ m.reasoning_content }}/{{ m.content }} {% endfor %}",
                 {{.role = "user", .content = "a"},
                  {.role = "assistant", .content = "b", .thoughts = "t"},
                  {.role = "user", .content = "c"}}),
        "/a t/b /c ");
}

TEST(ChatTemplate, puts_a_system_message_that_it_cannot_write_into_the_next) {
    const std::string refusing =
        "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}"
        "{% endif %}{{ messages[0].content }}";
    EXPECT_EQ(rendered(refusing, with_system), "Be kind.\nHello");
    const std::string silent =
        "{% for m in messages if m.role == 'user' %}{{ m.content }}{% endfor %}";
    EXPECT_EQ(rendered(silent, with_system), "Be kind.\nHello");
    EXPECT_EQ(rendered(silent, {with_system[0]}), "Be kind.");
    EXPECT_EQ(rendered("{% for m in messages %}{{ m.content }}.{% endfor %}", with_system),
              "Be kind..Hello.");
}

TEST(ChatTemplate, gives_contents_in_parts_where_it_knows_no_other) {
    EXPECT_EQ(rendered("{% for m in messages %}{% for part in m.content %}"
                       "{{ part.text if part.type == 'text' }}{% endfor %}{% endfor %}",
                       hello),
              "Hello");
}

TEST(ChatTemplate, is_tried_out_with_texts_that_it_has_not_itself) {
    const std::string parts =
        "{% for m in messages if m.role == 'user' %}User:{% for part in m.content %}"
        "{% if part.type == 'text' %}{{ part.text }}{% endif %}{% endfor %}.{% endfor %}";
    EXPECT_EQ(rendered(parts, {{.role = "user", .content = "e"}}), "User:e.");
    EXPECT_EQ(
        rendered(parts, {{.role = "system", .content = "s"}, {.role = "user", .content = "User"}}),
        "User:s\nUser.");
}

TEST(ChatTemplate, says_what_is_wrong) {
    const Tokenizer tokenizer = tokenizer_of();
    EXPECT_EQ(test::error_of([&] {
                  ChatTemplate("a\n{% if %}", tokenizer, {});
              }).find("the chat template cannot be read: line 2: "),
              0u);
    EXPECT_EQ(test::error_of([&] { rendered("{{ raise_exception('no, thanks') }}", hello); }),
              "the chat template refuses this conversation: no, thanks");
    const Tokenizer without_bos = tokenizer_of(false);
    EXPECT_EQ(test::error_of([&] {
                  const ChatTemplate silent("{{ '' }}", without_bos, {});
                  silent.encode(silent.render(hello));
              }),
              "the chat template writes nothing for this conversation");
}

TEST(ChatTemplate, gives_one_bos_and_no_control_tokens_of_messages) {
    const std::string source =
        "{{ bos_token }}{% for m in messages %}<|user|>{{ m.content }}<|end|>{% endfor %}";
    for (bool adds : {true, false}) {
        const Tokenizer tokenizer = tokenizer_of(adds);
        const ChatTemplate chat(source, tokenizer, {});
        const auto tokens = chat.encode(chat.render(std::vector<Message>{{"user", "<|end|>"}}));
        ASSERT_EQ(tokens.size(), 3u + std::string_view("<|end|>").size());
        EXPECT_EQ(tokens[0], 1);
        EXPECT_EQ(tokens[1], user);
        EXPECT_EQ(std::count(tokens.begin(), tokens.end(), end), 1);
        EXPECT_EQ(tokens.back(), end);
    }
}

TEST(NamedTemplates, write_what_their_families_read) {
    const std::vector<Message> messages = {{.role = "system", .content = "S"},
                                           {.role = "user", .content = "U"},
                                           {.role = "assistant", .content = "A"},
                                           {.role = "user", .content = "V"}};
    const auto by = [&](const char* name) { return rendered(named_template(name), messages); };
    EXPECT_EQ(by("chatml"),
              "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nU<|im_end|>\n"
              "<|im_start|>assistant\nA<|im_end|>\n<|im_start|>user\nV<|im_end|>\n"
              "<|im_start|>assistant\n");
    EXPECT_EQ(by("command-r"),
              "<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>S<|END_OF_TURN_TOKEN|>"
              "<|START_OF_TURN_TOKEN|><|USER_TOKEN|>U<|END_OF_TURN_TOKEN|>"
              "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>A<|END_OF_TURN_TOKEN|>"
              "<|START_OF_TURN_TOKEN|><|USER_TOKEN|>V<|END_OF_TURN_TOKEN|>"
              "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>");
    EXPECT_EQ(by("deepseek2"),
              "S\n\nUser: U\n\nAssistant: A<\uff5cend\u2581of\u2581sentence\uff5c>User: V\n\n"
              "Assistant:");
    EXPECT_EQ(by("gemma"),
              "<start_of_turn>user\nS\n\nU<end_of_turn>\n<start_of_turn>model\nA<end_of_turn>\n"
              "<start_of_turn>user\nV<end_of_turn>\n<start_of_turn>model\n");
    EXPECT_EQ(by("glm4"),
              "[gMASK]<sop><|system|>\nS<|user|>\nU<|assistant|>\nA<|user|>\nV"
              "<|assistant|>\n");
    EXPECT_EQ(by("kimi-k2"),
              "<|im_system|>system<|im_middle|>S<|im_end|><|im_user|>user<|im_middle|>U<|im_end|>"
              "<|im_assistant|>assistant<|im_middle|>A<|im_end|><|im_user|>user<|im_middle|>V"
              "<|im_end|><|im_assistant|>assistant<|im_middle|>");
    EXPECT_EQ(by("llama2"), "[INST] <<SYS>>\nS\n<</SYS>>\n\nU [/INST]A</s>[INST] V [/INST]");
    EXPECT_EQ(by("mistral-v1"), " [INST] S\n\nU [/INST] A</s> [INST] V [/INST]");
    EXPECT_EQ(by("mistral-v7-tekken"),
              "[SYSTEM_PROMPT]S[/SYSTEM_PROMPT][INST]U[/INST]A</s>[INST]V[/INST]");
    EXPECT_EQ(by("vicuna"), "S\n\nUSER: U\nASSISTANT: A</s>\nUSER: V\nASSISTANT:");
    for (std::string_view name : template_names()) {
        const std::string text = rendered(named_template(name), messages);
        for (const char* content : {"S", "U", "A", "V"})
            EXPECT_NE(text.find(content), text.npos) << name;
    }
    EXPECT_EQ(test::error_of([] {
                  named_template("chatnl");
              }).find("no chat template is called chatnl; there are chatml, "),
              0u);
}

}  // namespace
}  // namespace tandem::model
