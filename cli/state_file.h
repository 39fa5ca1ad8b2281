// A text, and what a model knows of all of it but the last token, in a file. Little-endian, numbers
// of 64 bits where nothing else is said:
//
//     "tandem state\r\n\x1a\n"   16 bytes
//     version                  1: of this list, and of what kernels mean by the states' numbers
//     size of the file
//     model                    what model_number() gives
//     weights                  what weights_number() gives
//     name of the model        a length, then as many bytes
//     tokens                   a count, then as many of 32 bits
//     states                   a count, then of each a name, as above, its type and its bytes
//     checksum                 of all bytes before
//     the bytes of the states, one after another, as parallel::SavedState has them
//     checksum                 of all bytes before
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cli/output_file.h"
#include "gguf/dtype.h"
#include "gguf/file.h"
#include "gguf/mapping.h"
#include "graph/graph.h"

namespace tandem::cli {

// Tells a model from others: by what its file says of it, names and titles aside, by its tensors
// and by some bytes of each, as models may have all but the numbers in common.
uint64_t model_number(const gguf::File& file);
// Tells which of them it computes with, which may go by the context.
uint64_t weights_number(const graph::Graph& graph);

struct StateHead {
    struct State {
        std::string name;
        gguf::DType dtype;
        uint64_t bytes;
        bool operator==(const State&) const = default;
    };
    uint64_t model = 0, weights = 0;
    std::string name;  // for messages
    std::vector<int32_t> tokens;
    std::vector<State> states;
};

// `read(i, bytes)` fills in the bytes of state i. Throws Error where the file cannot take them;
// whatever is thrown, it keeps what it held, as OutputFile::replace does.
void write_state_file(OutputFile& file, const StateHead& head,
                      const std::function<void(size_t state, std::span<std::byte> to)>& read);

class StateFile {
  public:
    // Reads the head. Throws Error where the file is no such file, or is damaged before its states;
    // no count in it is believed before it is known to fit.
    explicit StateFile(const std::filesystem::path& path);

    const StateHead& head() const { return head_; }
    // Throws Error where the states are damaged.
    void check_states() const;
    std::span<const std::byte> state(size_t i) const;

  private:
    std::string path_;
    gguf::Mapping mapping_;
    StateHead head_;
    std::vector<uint64_t> begins_;  // of the states, and of what is behind them
};

}  // namespace tandem::cli
