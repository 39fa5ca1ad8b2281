// An architecture says what is computed: a graph over named axes. It knows no device and no split
// mode. One file each in model/arch, which the build collects into a table.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "gguf/dtype.h"
#include "gguf/file.h"
#include "graph/graph.h"

namespace tandem::model {

class Builder;

struct Architecture {
    std::string_view name;  // value of general.architecture
    void (*build)(Builder& model);
};

std::span<const Architecture* const> arch_table();

// What the user may choose about a model; the rest is in the file.
struct Options {
    int64_t context = 512;                    // cells of each cache: tokens of one sequence
    int64_t step = 512;                       // the most tokens of a step
    int64_t slots = 1;                        // sequences that have caches of their own
    gguf::DType key_type = gguf::DType::F16;  // cache types: F32, F16, BF16, Q8_0, Q4_0
    gguf::DType value_type = gguf::DType::F16;
};

// Tokens that the file's model has logits for; nothing where the file holds no model.
std::optional<int64_t> vocab_of(const gguf::File& file);

// The graph of the file's architecture. Throws Error for an unknown architecture (naming those that
// are known), a key that is missing or impossible, a tensor that is missing or has the wrong shape,
// and one that the graph does not read, without which the answer would be another.
std::unique_ptr<graph::Graph> build(const gguf::File& file, const Options& options);

}  // namespace tandem::model
