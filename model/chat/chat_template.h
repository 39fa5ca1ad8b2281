// What makes a prompt of a conversation: the template of a model's file, one of the user's, or one
// that is known by name.
#pragma once

#include <ctime>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "gguf/metadata.h"
#include "model/jinja/template.h"
#include "model/tokenizer/tokenizer.h"

namespace tandem::model {

struct Message {
    std::string role;  // "system", "user" or "assistant"
    std::string content;
    std::string thoughts;  // of an assistant, before the content
};

struct ChatOptions {
    bool thinking = true;  // where the template has a choice
    // Further variables of the template, by name: an object.
    nlohmann::ordered_json variables = nlohmann::ordered_json::object();
    std::tm now = {};  // the same in all of a conversation, or its beginning would change
};

// A model's own template, if its file has one.
std::optional<std::string> chat_template_of(const gguf::Metadata& metadata);

class ChatTemplate {
  public:
    // `source`: Jinja. The tokenizer outlives it. Throws Error, beginning with "the chat template",
    // for what it cannot read.
    ChatTemplate(std::string source, const Tokenizer& tokenizer, ChatOptions options);

    // The prompt that asks for the next answer. A system message that the template does not write
    // stands in front of the next one. Throws Error with the template's own words where it refuses
    // the conversation, or cannot be followed.
    jinja::Text render(std::span<const Message> messages) const;
    // Its tokens, of which the messages' own texts give no control tokens. Throws Error where there
    // are none.
    std::vector<int32_t> encode(const jinja::Text& prompt) const;

    const std::string& source() const { return source_; }

  private:
    enum class Contents { Texts, Parts };
    jinja::Text write(std::span<const Message> messages, Contents contents) const;
    bool writes(std::span<const Message> messages, Contents contents) const;
    void try_out();

    std::string source_;
    jinja::Template template_;
    const Tokenizer& tokenizer_;
    nlohmann::ordered_json variables_;
    std::tm now_;
    Contents contents_ = Contents::Texts;  // what the template knows them as
    bool writes_system_ = true;
};

}  // namespace tandem::model
