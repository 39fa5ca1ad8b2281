// Dimensions of published models, by which random ones are made and known ones are recognised.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "cli/synth/vocabulary.h"
#include "gguf/metadata.h"

namespace tandem::cli {

// What most models share comes first; the rest is 0 in those that have no such thing.
struct Preset {
    std::string_view name;        // "llama-1b"
    std::string_view alias = {};  // another name of it, or empty
    std::string_view title;       // "Llama 3.2 1B"
    std::string_view size;        // class of size, as tables of measurements name it: "1B"
    std::string_view architecture;
    int64_t blocks, embd, heads, kv_heads, head_size;
    int64_t ffn = 0;  // width of the dense feed-forward networks
    int64_t vocab;
    Vocabulary vocabulary;
    double rope_base = 10000;
    int64_t context;
    bool tied = false;        // the head reads the embedding table
    double rope_factor = 0;   // of Llama 3's stretched frequencies
    bool biased = false;      // queries, keys and values have biases
    bool head_norms = false;  // queries and keys are normed, where models of the family differ

    struct Experts {
        int64_t count = 0, used = 0, width = 0;
        int64_t shared = 0;        // width of the one that every token has
        int64_t dense_blocks = 0;  // blocks at the beginning that have none
        int64_t groups = 0, used_groups = 0;
        double scale = 0;  // of their weights, where it is not 1
    } experts;

    int64_t value_heads = 0;  // of delta nets

    // Latent attention: widths of the compressed queries (0: not compressed), the compressed keys,
    // the parts of a head without and with positions, and of a head's values.
    struct Latent {
        int64_t queries = 0, keys = 0, plain = 0, rotary = 0, values = 0;
    } latent;

    // One block in `period` sees everything, the others as many tokens as the window has.
    struct Window {
        int64_t tokens = 0, period = 0;
        int64_t full_kv_heads = 0;  // of the blocks without one, where they differ
    } window;

    int64_t per_layer = 0;      // width of the embedding that every block has of its own
    int64_t cacheless = 0;      // blocks at the end that read the caches of earlier ones
    int64_t cacheless_ffn = 0;  // their ffn
};

// Of all families.
std::vector<const Preset*> presets();
// Dots, dashes, underscores and case do not count. Throws Error naming those that exist.
const Preset& find_preset(std::string_view name);
// The class of size of a file's model, "8B"; "?B" for one that is not in the table.
std::string_view size_class(const gguf::Metadata& metadata);

}  // namespace tandem::cli
