// The keys and the tensor directory of a synthetic model while they are made: a word for each thing
// that families share. Dimensions are those of the preset where a word names none.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "cli/synth/presets.h"
#include "cli/synth/recipe.h"
#include "gguf/file.h"
#include "gguf/metadata.h"

namespace tandem::cli::synth {

// Behind the title of the model that has these dimensions: by this a synthetic one is known.
inline constexpr std::string_view end_of_names = ", random weights";

class Outline {
  public:
    // Sets the keys that every model has.
    Outline(const Preset& preset, const Recipe& recipe, int64_t blocks);

    const Preset& preset;
    const Recipe& recipe;
    const int64_t blocks;
    gguf::Metadata metadata;
    std::vector<gguf::TensorInfo> tensors;
    std::vector<float> frequencies;  // values of rope_freqs.weight

    // Keys, behind the architecture's name.
    void set(const std::string& key, int64_t value);
    void set(const std::string& key, std::vector<int64_t> values);
    void set_real(const std::string& key, double value);
    void set_text(const std::string& key, std::string_view value);
    void set_true(const std::string& key);

    // Tensors that follow belong to this block, or to none.
    void begin_block(int64_t index);
    void end_blocks() { prefix_.clear(); }
    void vector(const std::string& name, int64_t length, const char* suffix = ".weight");
    void norms(std::initializer_list<const char*> names);
    // One matrix, or a stack of them, in the type that the recipe says.
    void matrix(const std::string& name, int64_t columns, int64_t rows, int64_t stack = 0);
    // One that quantisers leave alone: F32.
    void plain(const std::string& name, int64_t columns, int64_t rows,
               const char* suffix = ".weight");
    void plain_stack(const std::string& name, int64_t columns, int64_t rows, int64_t stack);

    // attn_{q,k,v,output}, with biases where the preset has them; `gated`: each query head has a
    // gate as wide as itself.
    void attention(bool gated = false);
    void head_norms(int64_t head_size);
    void latent_attention();
    void set_latent_attention();
    // Three blocks of four have these 16 key heads of 128 instead of attention.
    void delta_net(bool joined_gates);
    void set_delta_net();

    void dense(int64_t width, const char* suffix = "");
    void experts();
    void shared_expert() { dense(preset.experts.shared, "_shexp"); }
    void selection_bias() { vector("exp_probs_b", preset.experts.count, ".bias"); }

    void set_yarn(double factor, int64_t original_context);

  private:
    std::string prefix_;
};

}  // namespace tandem::cli::synth
