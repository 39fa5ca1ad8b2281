#include "cli/conversation.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <iostream>
#include <utility>

#include "cli/prompt.h"
#include "gguf/error.h"
#include "model/chat/named_templates.h"

namespace tandem::cli {

namespace {

using namespace std::string_view_literals;

constexpr std::string_view no_raw_dialogue =
    "-cnv writes what stands around messages as the model's template has it";

constexpr Option list[] = {
    {"-cnv, --conversation", "",
     "answer messages, as the chat template has them, instead of going on with a text: that of -p, "
     "and then lines of standard input (default: where the model has a template, with lines of a "
     "terminal only; off: -no-cnv)"},
    {"-st, --single-turn", "", "end behind the first answer"},
    {"-sys, --system-prompt", "TEXT", "the message of the system in front of all others"},
    {"-sysf, --system-prompt-file", "FILE", "a file with it; one newline at its end is dropped"},
    {"--chat-template", "TEXT", "a template in Jinja, or the name of a family of models"},
    {"--chat-template-file", "FILE", "a file with a template in Jinja"},
    {"--chat-template-kwargs", "JSON", "further variables of the template, as an object"},
    {"-rea, --reasoning", "[on|off|auto]",
     "whether the model thinks before it answers, where its template has a choice (default: on)"},
    {"--reasoning-format", "NAME",
     "none: write thoughts as the model has them; auto: tell them from the answer (default)"},
    {"--reasoning-budget", "N",
     "tokens that the model may think for, then it is made to answer; -1: as many as it takes "
     "(default: -1)"},
    {"--reasoning-budget-message", "TEXT", "what a thought that is cut ends with"},
    {"--jinja", "", "", Effect::Ignored},
    {"--simple-io", "", "", Effect::Ignored},
    {"-co, --color", on_off_auto, "", Effect::Ignored},
    {"--reasoning-preserve", "", "the template says which thoughts the model sees again",
     Effect::Refused},
    {"--in-prefix", "TEXT", no_raw_dialogue, Effect::Refused},
    {"--in-suffix", "TEXT", no_raw_dialogue, Effect::Refused},
    {"--in-prefix-bos", "", no_raw_dialogue, Effect::Refused},
    {"-i, --interactive", "", no_raw_dialogue, Effect::Refused},
    {"-if, --interactive-first", "", no_raw_dialogue, Effect::Refused},
    {"-mli, --multiline-input", "", "a line that ends with a backslash goes on in the next",
     Effect::Refused},
};

// A template's source, or the name of one that is known.
std::string named_or_source(const std::string& text) {
    const bool is_name = text.find_first_of("{}\n") == text.npos;
    return is_name ? model::named_template(text) : text;
}

std::optional<std::string> source_of_options(const Arguments& arguments) {
    if (arguments.has("chat-template") && arguments.has("chat-template-file"))
        throw Error(
            "two chat templates given: choose one of --chat-template and "
            "--chat-template-file");
    if (arguments.has("chat-template")) return named_or_source(arguments.text("chat-template"));
    if (arguments.has("chat-template-file"))
        return read_text(arguments.text("chat-template-file"), "the chat template");
    return {};
}

std::optional<std::string> system_message(const Arguments& arguments) {
    if (arguments.has("system-prompt") && arguments.has("system-prompt-file"))
        throw Error("two system messages given: choose one of -sys and -sysf");
    std::string text;
    if (arguments.has("system-prompt"))
        text = arguments.text("system-prompt");
    else if (arguments.has("system-prompt-file"))
        text = read_text(arguments.text("system-prompt-file"), "the system message");
    else
        return {};
    return arguments.on("escape", true) ? unescape(text) : text;
}

model::ChatOptions chat_options(const Arguments& arguments) {
    model::ChatOptions options;
    const std::string reasoning = arguments.text("reasoning");
    if (!reasoning.empty() && reasoning != "on" && reasoning != "off" && reasoning != "auto")
        throw Error("option -rea takes on, off or auto, not \"" + reasoning + "\"");
    options.thinking = reasoning != "off";
    if (arguments.has("chat-template-kwargs")) {
        const std::string text = arguments.text("chat-template-kwargs");
        options.variables = nlohmann::ordered_json::parse(text, nullptr, false);
        if (!options.variables.is_object())
            throw Error("option --chat-template-kwargs takes an object in JSON, not \"" + text +
                        "\"");
    }
    const std::time_t now = std::time(nullptr);
    localtime_r(&now, &options.now);
    return options;
}

bool tells_thoughts(const Arguments& arguments) {
    const std::string format = arguments.text("reasoning-format", "auto");
    if (format != "none" && format != "auto" && format != "deepseek")
        throw Error("option --reasoning-format takes none or auto, not \"" + format + "\"");
    return format != "none";
}

int64_t budget(const Arguments& arguments) { return arguments.integer("reasoning-budget", -1, -1); }

std::string budget_message(const Arguments& arguments) {
    const std::string text = arguments.text("reasoning-budget-message");
    return arguments.on("escape", true) ? unescape(text) : text;
}

bool is_said(const model::Message& message) { return message.role != "system"; }

}  // namespace

const OptionGroup conversation_options{"conversation", list};

std::unique_ptr<Conversation> Conversation::begin(const Arguments& arguments,
                                                  const gguf::File& file,
                                                  const model::Tokenizer& tokenizer,
                                                  std::vector<std::string>& notes) {
    std::optional<std::string> own = model::chat_template_of(file.metadata());
    std::optional<std::string> source = source_of_options(arguments);
    std::optional<std::string> system = system_message(arguments);
    const bool wanted = arguments.on("conversation", own || source || system);
    if (!wanted) {
        for (const char* name :
             {"chat-template", "chat-template-file", "system-prompt", "system-prompt-file",
              "chat-template-kwargs", "reasoning", "reasoning-format", "reasoning-budget",
              "reasoning-budget-message"})
            if (arguments.has(name) && !(name == "reasoning-budget"sv && budget(arguments) < 0))
                throw Error("option --" + std::string(name) +
                            " is about a conversation (-cnv), and this run is about a text");
        return {};
    }
    if (!source && own)
        source = std::move(own);
    else if (!source) {
        source = model::named_template(model::usual_template);
        notes.push_back("the model has no chat template: " + std::string(model::usual_template) +
                        " stands in for it (--chat-template)");
    }
    std::unique_ptr<Conversation> conversation(
        new Conversation(arguments, tokenizer, std::move(*source)));
    if (system) conversation->messages_.push_back({.role = "system", .content = *system});
    if (conversation->budget_ >= 0 && conversation->template_marks_.empty())
        notes.push_back("the template has no thoughts: --reasoning-budget has no effect");
    if (!arguments.has("conversation"))
        notes.push_back(
            "this is a conversation by a chat template; -no-cnv goes on with the text "
            "itself");
    return conversation;
}

Conversation::Conversation(const Arguments& arguments, const model::Tokenizer& tokenizer,
                           std::string source)
    : tokenizer_(tokenizer),
      template_(std::move(source), tokenizer, chat_options(arguments)),
      template_marks_(model::marks_of(template_.source())),
      special_(arguments.on("special")),
      escapes_(arguments.on("escape", true)),
      budget_(budget(arguments)),
      budget_message_(budget_message(arguments)) {
    if (tells_thoughts(arguments)) marks_ = template_marks_;
    goes_on_ = !arguments.on("single-turn") &&
               (arguments.has("conversation") || isatty(STDIN_FILENO) != 0);
}

std::vector<int32_t> Conversation::prompt() {
    const model::jinja::Text text = template_.render(messages_);
    voices_ = model::Voices(marks_, text.bytes());
    thinking_budget_.reset();
    if (budget_ >= 0 && !template_marks_.empty())
        thinking_budget_.emplace(tokenizer_, template_marks_, text.bytes(), budget_,
                                 budget_message_);
    answer_ = {.role = "assistant"};
    thinking_ = false;
    return template_.encode(text);
}

std::vector<int32_t> Conversation::ask(std::string message) {
    messages_.push_back({.role = "user", .content = std::move(message)});
    return prompt();
}

// Tokens that a prompt begins with, and so does that of some others and one message more.
int64_t Conversation::common(std::span<const int32_t> prompt,
                             std::vector<model::Message> others) const {
    others.push_back({.role = "user", .content = "message"});
    try {
        const std::vector<int32_t> tokens = template_.encode(template_.render(others));
        return std::ranges::mismatch(prompt, tokens).in1 - prompt.begin();
    } catch (const Error&) {
        return 0;  // the template does not take them, and says so when they come
    }
}

int64_t Conversation::lasting(std::span<const int32_t> prompt) const {
    std::vector<model::Message> later = messages_;
    later.push_back({.role = "assistant", .content = "answer"});
    return common(prompt, std::move(later));
}

int64_t Conversation::opening(std::span<const int32_t> prompt) const {
    std::vector<model::Message> system = messages_;
    std::erase_if(system, is_said);
    return common(prompt, std::move(system));
}

std::optional<std::vector<int32_t>> Conversation::without_oldest() {
    const auto is_asked = [](const model::Message& message) { return message.role == "user"; };
    const auto oldest = std::ranges::find_if(messages_, is_said);
    if (oldest == messages_.end()) return {};
    const auto next = std::find_if(oldest + 1, messages_.end(), is_asked);
    if (next == messages_.end()) return {};
    messages_.erase(oldest, next);
    return prompt();
}

bool Conversation::take_back() {
    if (messages_.empty() || messages_.back().role != "assistant") return false;
    messages_.pop_back();
    return true;
}

std::optional<std::string> Conversation::next_message(const Interrupts& interrupts) {
    if (isatty(STDIN_FILENO) != 0) std::cerr << "\n> ";
    std::optional<std::string> message = lines_.next(interrupts);
    while (message && message->ends_with('\\')) {
        message->back() = '\n';
        std::optional<std::string> more = lines_.next(interrupts);
        if (!more) break;
        *message += *more;
    }
    return message;
}

std::optional<std::vector<int32_t>> Conversation::next(const Interrupts& interrupts) {
    while (std::optional<std::string> message = next_message(interrupts)) {
        if (message->empty()) continue;
        if (message == "/exit") break;
        if (message == "/regen") {
            if (take_back()) return prompt();
            std::cerr << "there is no answer yet\n";
        } else if (message == "/clear") {
            std::erase_if(messages_, is_said);
        } else {
            return ask(escapes_ ? unescape(*message) : *message);
        }
    }
    return {};
}

std::optional<int32_t> Conversation::dictated() const {
    if (!thinking_budget_) return {};
    return thinking_budget_->dictated();
}

void Conversation::take(int32_t token) {
    if (thinking_budget_) thinking_budget_->take(token);
}

std::string_view Conversation::piece(int32_t token) const {
    const std::string_view whole = tokenizer_.piece(token, true);
    const bool marks = std::ranges::any_of(
        marks_, [&](const model::Mark& mark) { return mark.text.find(whole) != mark.text.npos; });
    return marks ? whole : tokenizer_.piece(token, special_);
}

std::string Conversation::shown(const std::vector<model::Voices::Part>& parts) {
    std::string text;
    for (const auto& [voice, said] : parts) {
        const bool thought = voice == model::Voice::Thought;
        if (thought && !thinking_) text += "[Start thinking]\n";
        if (!thought && thinking_) text += "\n[End thinking]\n\n";
        thinking_ = thought;
        text += said;
        (thought ? answer_.thoughts : answer_.content) += said;
    }
    return text;
}

std::string Conversation::hear(std::string_view piece) { return shown(voices_.push(piece)); }

std::string Conversation::end() {
    std::string text = shown(voices_.flush());
    if (thinking_) text += "\n[End thinking]";
    messages_.push_back(std::exchange(answer_, {}));
    return text;
}

}  // namespace tandem::cli
