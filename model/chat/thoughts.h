// What a model thinks before it answers, told from the answer by marks that its family writes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::model {

enum class Voice { Thought, Answer };

// A text of which the reader sees nothing, and whose voice follows it.
struct Mark {
    std::string_view text;
    Voice next;
    // Else a thought is only begun before the answer is, and an answer by the end of a thought:
    // what stands elsewhere is text.
    bool anywhere = false;
};

// Those that a template has; none where its models do not think.
std::span<const Mark> marks_of(std::string_view chat_template);
// What a model of such marks writes between a thought and the answer.
std::string end_of_thoughts(std::span<const Mark> marks);

// Divides what a model writes, its control tokens' texts included, among the voices, wherever
// tokens divide the marks. White space around a voice's text is dropped; where a voice comes back,
// an empty line is between what it says.
class Voices {
  public:
    struct Part {
        Voice voice;
        std::string text;
    };

    Voices() = default;
    // `prompt`: what the model goes on with, which may have begun a thought.
    Voices(std::span<const Mark> marks, std::string_view prompt);

    // What is certain by now of the text so far.
    std::vector<Part> push(std::string_view piece);
    std::vector<Part> flush();  // the rest

    Voice voice() const { return voice_; }
    bool begun() const { return begun_; }  // it has said something

  private:
    size_t find(const Mark& mark) const;  // in what is pending
    void take(std::string_view text, std::vector<Part>& parts);

    std::span<const Mark> marks_;
    Voice voice_ = Voice::Answer;
    bool begun_ = false;       // the voice has said something,
    bool has_said_[2] = {};    // or had before, by voice
    std::string pending_;      // may be the beginning of a mark
    std::string white_space_;  // may be the voice's last
};

}  // namespace tandem::model
