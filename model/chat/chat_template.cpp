#include "model/chat/chat_template.h"

#include <algorithm>
#include <utility>

#include "gguf/error.h"
#include "model/jinja/dates.h"

namespace tandem::model {

namespace {

using nlohmann::ordered_json;

jinja::Template parse(const std::string& source) {
    try {
        return jinja::Template(source);
    } catch (const Error& error) {
        throw Error(std::string("the chat template cannot be read: ") + error.what());
    }
}

// The system message as the beginning of the one behind it.
std::vector<Message> merged(std::span<const Message> messages) {
    std::vector<Message> rest(messages.begin() + 1, messages.end());
    const std::string& system = messages[0].content;
    if (rest.empty()) return {{.role = "user", .content = system}};
    rest[0].content = system + "\n" + rest[0].content;
    return rest;
}

}  // namespace

std::optional<std::string> chat_template_of(const gguf::Metadata& metadata) {
    return metadata.text("tokenizer.chat_template");
}

ChatTemplate::ChatTemplate(std::string source, const Tokenizer& tokenizer, ChatOptions options)
    : source_(std::move(source)),
      template_(parse(source_)),
      tokenizer_(tokenizer),
      now_(options.now) {
    const auto text_of = [&](std::optional<int32_t> token) {
        return token ? std::string(tokenizer.piece(*token, true)) : std::string();
    };
    // Some templates ask for the one name, some for the other.
    variables_ = {{"bos_token", text_of(tokenizer.bos())},
                  {"eos_token", text_of(tokenizer.eos())},
                  {"add_generation_prompt", true},
                  {"enable_thinking", options.thinking},
                  {"thinking", options.thinking},
                  {"datetime", jinja::date_text("%b %d %Y", now_)},
                  {"date_string", jinja::date_text("%d %b %Y", now_)}};
    variables_.update(options.variables);
    try_out();
}

jinja::Text ChatTemplate::write(std::span<const Message> messages, Contents contents) const {
    ordered_json list = ordered_json::array();
    for (const Message& message : messages) {
        ordered_json entry = {{"role", message.role}};
        if (contents == Contents::Texts)
            entry["content"] = message.content;
        else
            entry["content"] = {{{"type", "text"}, {"text", message.content}}};
        if (!message.thoughts.empty()) {
            entry["reasoning_content"] = message.thoughts;
            entry["thinking"] = message.thoughts;
        }
        list.push_back(std::move(entry));
    }
    ordered_json variables = variables_;
    variables["messages"] = std::move(list);
    try {
        return template_.render(variables, now_);
    } catch (const Error& error) {
        // Its words are a file's, or even the conversation's.
        std::string words = error.what();
        std::ranges::replace_if(
            words, [](unsigned char byte) { return byte < 0x20; }, ' ');
        throw Error("the chat template refuses this conversation: " + words);
    }
}

// Whether the template writes all of what they say.
bool ChatTemplate::writes(std::span<const Message> messages, Contents contents) const {
    try {
        const jinja::Text text = write(messages, contents);
        return std::ranges::all_of(messages, [&](const Message& message) {
            return text.bytes().find(message.content) != std::string::npos;
        });
    } catch (const Error&) {
        return false;
    }
}

// By texts that no template has itself.
void ChatTemplate::try_out() {
    const Message probes[] = {{.role = "system", .content = "probe-of-system-6c1f"},
                              {.role = "user", .content = "probe-of-user-93ab"}};
    const auto user = std::span(probes).last(1);
    if (!writes(user, Contents::Texts) && writes(user, Contents::Parts))
        contents_ = Contents::Parts;
    writes_system_ = writes(probes, contents_);
}

jinja::Text ChatTemplate::render(std::span<const Message> messages) const {
    check(!messages.empty(), "a conversation has messages");
    if (messages[0].role == "system" && !writes_system_) return write(merged(messages), contents_);
    return write(messages, contents_);
}

std::vector<int32_t> ChatTemplate::encode(const jinja::Text& prompt) const {
    std::string_view text = prompt.bytes();
    size_t skipped = 0;
    // The tokenizer puts it in front.
    if (tokenizer_.adds_bos()) {
        const std::string_view bos = tokenizer_.piece(*tokenizer_.bos(), true);
        const bool given = !prompt.given().empty() && prompt.given()[0].begin < bos.size();
        if (text.starts_with(bos) && !given) skipped = bos.size();
    }
    std::vector<ByteRange> given;
    for (const ByteRange& range : prompt.given())
        if (range.end > skipped)
            given.push_back({std::max(range.begin, skipped) - skipped, range.end - skipped});
    std::vector<int32_t> tokens = tokenizer_.encode(text.substr(skipped), {.plain = given});
    if (tokenizer_.adds_eos()) tokens.pop_back();  // the answer goes on
    if (tokens.empty()) throw Error("the chat template writes nothing for this conversation");
    return tokens;
}

}  // namespace tandem::model
