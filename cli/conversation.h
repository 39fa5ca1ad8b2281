// A run as a conversation: messages in, answers out, in the words of the model's chat template.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/interrupts.h"
#include "cli/line_reader.h"
#include "cli/options.h"
#include "gguf/file.h"
#include "model/chat/chat_template.h"
#include "model/chat/thinking_budget.h"
#include "model/chat/thoughts.h"
#include "model/tokenizer/tokenizer.h"

namespace tandem::cli {

extern const OptionGroup conversation_options;  // -cnv and relatives

class Conversation {
  public:
    // None where the run is about a text: the model has no template, and no option asks for a
    // conversation, or -no-cnv asks for none. The tokenizer outlives it.
    static std::unique_ptr<Conversation> begin(const Arguments& arguments, const gguf::File& file,
                                               const model::Tokenizer& tokenizer,
                                               std::vector<std::string>& notes);

    // What the model is to go on with, once the user has said this.
    std::vector<int32_t> ask(std::string message);
    // So many tokens of a prompt stand in front of the next message's answer, too, whatever is
    // answered: templates may leave thoughts out, or write what begins an answer otherwise.
    int64_t lasting(std::span<const int32_t> prompt) const;
    // So many of its tokens are the system's, and what stands in front of the first message.
    int64_t opening(std::span<const int32_t> prompt) const;
    // The prompt without the oldest message, its answer and what else came before the next; none
    // where the last message is all there is.
    std::optional<std::vector<int32_t>> without_oldest();
    // Whether there may be further messages, and the same for the next line that asks for an
    // answer: a message, or "/regen" for another answer to the last. None where no more come, or
    // "/exit" ends the conversation. Waits, and throws Error when an interrupt comes meanwhile.
    bool goes_on() const { return goes_on_; }
    std::optional<std::vector<int32_t>> next(const Interrupts& interrupts);

    // The token of the answer that comes next, whatever the model would write: of the end of a
    // thought that is long enough. None where that is the model's choice.
    std::optional<int32_t> dictated() const;
    void take(int32_t token);  // came
    // How the answer that is to come is told from thoughts, and where it begins.
    std::span<const model::Mark> marks() const { return marks_; }
    const model::Voices& voices() const { return voices_; }

    // What the model means by a token of its answer, and what the reader sees of that.
    std::string_view piece(int32_t token) const;
    std::string hear(std::string_view piece);
    // The answer has ended: what is left of it to see. It is part of the conversation now.
    std::string end();

  private:
    Conversation(const Arguments& arguments, const model::Tokenizer& tokenizer, std::string source);
    std::vector<int32_t> prompt();
    int64_t common(std::span<const int32_t> prompt, std::vector<model::Message> others) const;
    std::string shown(const std::vector<model::Voices::Part>& parts);
    std::optional<std::string> next_message(const Interrupts& interrupts);
    bool take_back();  // the last answer; false where there is none

    const model::Tokenizer& tokenizer_;
    const model::ChatTemplate template_;
    const std::span<const model::Mark> template_marks_;  // of thoughts
    std::span<const model::Mark> marks_;  // the same; none: they are shown as the model has them
    const bool special_, escapes_;
    bool goes_on_ = false;
    const int64_t budget_;              // tokens of a thought; below 0 as many as it takes
    const std::string budget_message_;  // stands at its end then
    std::optional<model::ThinkingBudget> thinking_budget_;
    std::vector<model::Message> messages_;
    model::Voices voices_;
    model::Message answer_;
    bool thinking_ = false;  // the reader sees thoughts
    LineReader lines_;
};

}  // namespace tandem::cli
