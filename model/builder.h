// What an architecture file builds with: hyperparameters, axes, and weights found by name and
// checked against the shape that the axes promise.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gguf/file.h"
#include "graph/layout.h"
#include "graph/ops.h"
#include "graph/rope.h"
#include "model/architecture.h"
#include "model/hyperparameters.h"

namespace tandem::model {

using graph::Axis;
using graph::Cache;
using graph::Graph;
using graph::Layout;
using graph::Rope;
using graph::Shape;
using graph::Tensor;

// Query heads come in groups that share a key and value head; d is the size of a query and a key,
// dv that of a value, the same axis where they are equal.
struct AttentionAxes {
    Axis kv_heads, q_per_kv, d, dv;
};

class Builder;

// One block of the model: names within "blk.<index>.".
class Layer {
  public:
    Layer(Builder& model, int index) : model(model), index(index) {}
    Builder& model;
    const int index;

    Axis axis(std::string_view role, int64_t extent);
    // With `head_size` above 0 in place of the file's.
    AttentionAxes attention_axes(int64_t head_size = 0);
    int64_t ffn_width() const;  // of a dense network
    // As Builder's, with the block's prefix: weight("attn_q", ...) is "blk.3.attn_q.weight".
    Tensor weight(std::string_view name, const Shape& rows, const Shape& columns);
    Tensor vector(std::string_view name, const Shape& axes);
    bool has(std::string_view name) const;  // full name after the prefix: "attn_q.bias"
    // Throws Error where the block lacks it: for what other architectures may do without.
    void require(std::string_view name) const;
    std::string path(std::string_view name) const;
    // Caches of keys and values. With a window they are rings of as many cells as a step and the
    // window before it need. Throws Error where a row is not a multiple of the type's block.
    Cache cache(const AttentionAxes& axes, int64_t window = 0);
    // One cache of keys: [slots heads... cells | size].
    Tensor cells(std::string_view name, const Shape& heads, Axis size);

  private:
    Tensor cells(std::string_view name, gguf::DType dtype, const Shape& heads, Axis size,
                 int64_t window);
};

class Builder {
  public:
    Builder(const gguf::File& file, const Options& options, Graph& graph);

    const gguf::File& file;
    const Options& options;
    const Hyperparameters keys;
    Graph& graph;
    Axis embd, vocab;
    double epsilon;                  // of every RMS norm
    Rope rope;                       // set by the architecture
    Tensor rope_factors;             // empty without rope_freqs.weight and the like
    Tensor positions();              // [tokens]
    int layers() const;              // blocks to execute
    Axis slots();                    // sequences that have states of their own
    int64_t head_size() const;       // elements of a query and a key of one head
    int64_t even_head_size() const;  // the model's width divided among the heads of block 0
    // Announces block `index`: what is said from now on belongs to it.
    Layer layer(int index);

    // The tensor `path` with rows over `rows` (nested at will: see Layout) and the columns, which
    // are contracted and lie in a row; one weight for each innermost part. Throws Error when it is
    // missing or has another shape.
    std::vector<Tensor> weights(const std::string& path, const Layout& rows, const Shape& columns);
    Tensor weight(const std::string& path, const Shape& rows, const Shape& columns);
    // A vector over axes: a norm, a bias. `weights` of it are ranges of its elements.
    Tensor vector(const std::string& path, const Shape& axes);
    bool has(std::string_view path) const { return file.find(path) != nullptr; }
    void require(std::string_view path) const;

    // Tensors whose names begin so have no part in the answer.
    void leave_out(std::string beginning) { left_out_.push_back(std::move(beginning)); }
    bool is_left_out(std::string_view path) const;
    // The last nextn_predict_layers blocks, which only draft tokens (DeepSeek-V3).
    void leave_out_drafts();

  private:
    int drafts_ = 0;
    std::vector<std::string> left_out_;
};

}  // namespace tandem::model
