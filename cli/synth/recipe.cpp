#include "cli/synth/recipe.h"

#include <algorithm>
#include <cctype>

#include "cli/synth/random_rows.h"
#include "gguf/error.h"

namespace tandem::cli {

using gguf::DType;

namespace {

using enum Recipe::Where;

constexpr Recipe mixtures[] = {
    {"Q4_K_M", DType::Q4_K, DType::Q6_K, Spread},
    {"Q5_K_M", DType::Q5_K, DType::Q6_K, Spread},
    {"Q4_K_S", DType::Q4_K, DType::Q5_K, First},
    {"Q5_K_S", DType::Q5_K, DType::Q5_K, Nowhere},
    {"MXFP4", DType::MXFP4, DType::MXFP4, Nowhere, true},
};

struct FileType {
    uint32_t number;
    std::string_view name;   // of a mixture or a type
    std::string_view label;  // empty: the name
};

constexpr FileType file_types[] = {
    {0, "F32", "all F32"},
    {1, "F16"},
    {2, "Q4_0"},
    {3, "Q4_1"},
    {7, "Q8_0"},
    {8, "Q5_0"},
    {9, "Q5_1"},
    {10, "Q2_K", "Q2_K - Medium"},
    {11, "Q3_K", "Q3_K - Small"},
    {12, "Q3_K_M", "Q3_K - Medium"},
    {13, "Q3_K_L", "Q3_K - Large"},
    {14, "Q4_K", "Q4_K - Small"},
    {14, "Q4_K_S", "Q4_K - Small"},
    {15, "Q4_K_M", "Q4_K - Medium"},
    {16, "Q5_K", "Q5_K - Small"},
    {16, "Q5_K_S", "Q5_K - Small"},
    {17, "Q5_K_M", "Q5_K - Medium"},
    {18, "Q6_K"},
    {19, "IQ2_XXS", "IQ2_XXS - 2.0625 bpw"},
    {20, "IQ2_XS", "IQ2_XS - 2.3125 bpw"},
    {21, "Q2_K_S", "Q2_K - Small"},
    {22, "IQ3_XS", "IQ3_XS - 3.3 bpw"},
    {23, "IQ3_XXS", "IQ3_XXS - 3.0625 bpw"},
    {24, "IQ1_S", "IQ1_S - 1.5625 bpw"},
    {25, "IQ4_NL", "IQ4_NL - 4.5 bpw"},
    {26, "IQ3_S", "IQ3_S - 3.4375 bpw"},
    {27, "IQ3_M", "IQ3_S mix - 3.66 bpw"},
    {28, "IQ2_S", "IQ2_S - 2.5 bpw"},
    {29, "IQ2_M", "IQ2_M - 2.7 bpw"},
    {30, "IQ4_XS", "IQ4_XS - 4.25 bpw"},
    {31, "IQ1_M", "IQ1_M - 1.75 bpw"},
    {32, "BF16"},
    {36, "TQ1_0", "TQ1_0 - 1.69 bpw ternary"},
    {37, "TQ2_0", "TQ2_0 - 2.06 bpw ternary"},
    {38, "MXFP4", "MXFP4 MoE"},
    {39, "NVFP4"},
    {40, "Q1_0"},
    {41, "Q2_0"},
    {135, "Q6_0"},
    {138, "IQ2_K"},
    {139, "IQ3_K"},
    {140, "IQ4_K"},
    {141, "IQ5_K"},
    {142, "IQ6_K"},
    {145, "IQ4_KS"},
    {147, "IQ2_KS"},
    {148, "IQ4_KSS"},
    {150, "IQ5_KS"},
    {151, "IQ2_KT"},
    {152, "IQ3_KT"},
    {153, "IQ4_KT"},
    {154, "IQ3_KS"},
    {155, "IQ2_KL"},
    {156, "IQ1_KT"},
};

bool same(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
        return std::toupper(static_cast<unsigned char>(x)) ==
               std::toupper(static_cast<unsigned char>(y));
    });
}

bool fits(DType dtype, int64_t columns) { return columns % gguf::traits(dtype).block == 0; }

// What takes the place of a type whose blocks do not fit into the rows.
DType fallback(DType dtype) {
    const std::string_view name = gguf::name(dtype);
    switch (dtype) {
        case DType::Q2_K:
        case DType::Q3_K:
        case DType::TQ1_0:
        case DType::TQ2_0:
        case DType::Q2_0:
            return DType::Q4_0;
        case DType::Q4_K:
            return DType::Q5_0;
        case DType::Q5_K:
            return DType::Q5_1;
        case DType::Q6_K:
            return DType::Q8_0;
        default:
            return name.starts_with("IQ") ? DType::IQ4_NL : DType::F16;
    }
}

DType fitting(DType dtype, int64_t columns) {
    if (!fits(dtype, columns)) dtype = fallback(dtype);
    return fits(dtype, columns) ? dtype : DType::F16;
}

// Types of so few bits that their output matrix is not given as many as usual.
bool very_small(DType dtype) {
    const std::string_view name = gguf::name(dtype);
    return name.starts_with("IQ1") || name.starts_with("IQ2") || dtype == DType::IQ3_XXS;
}

DType output_type(DType dtype, int64_t columns) {
    if (dtype == DType::Q8_0 || !fits(dtype, columns)) return DType::Q8_0;
    return very_small(dtype) ? DType::Q5_K : DType::Q6_K;
}

bool better(Recipe::Where where, int64_t index, int64_t count) {
    const int64_t eighth = count / 8;
    if (where == Spread)
        return index < eighth || index >= 7 * count / 8 || (index - eighth) % 3 == 2;
    return where == First && index < eighth;
}

// The block number and the rest of "blk.3.attn_v.weight".
struct Name {
    int64_t block = -1;
    std::string_view rest;
};
Name split(std::string_view name) {
    if (!name.starts_with("blk.")) return {-1, name};
    const size_t dot = name.find('.', 4);
    return {std::stoll(std::string(name.substr(4, dot - 4))), name.substr(dot + 1)};
}

}  // namespace

Recipe find_recipe(std::string_view name) {
    auto is_mixture = [](std::string_view type) {
        return std::ranges::any_of(mixtures,
                                   [&](const Recipe& recipe) { return same(recipe.name, type); });
    };
    std::string known;
    for (const Recipe& recipe : mixtures) {
        if (same(recipe.name, name)) return recipe;
        known += std::string(recipe.name) + ", ";
    }
    auto dtype = gguf::dtype_from_name(name);
    if (dtype && RandomRows::exists(*dtype)) return {gguf::name(*dtype), *dtype, *dtype};
    for (const gguf::DTypeTraits& type : gguf::dtypes())
        if (RandomRows::exists(type.dtype) && !is_mixture(type.name))
            known += std::string(type.name) + ", ";
    throw Error("there is no type \"" + std::string(name) + "\" for weights: choose one of " +
                known.substr(0, known.size() - 2));
}

DType choose_type(const Recipe& recipe, const Preset& preset, int64_t blocks,
                  const gguf::TensorInfo& tensor) {
    const int64_t columns = tensor.row_length();
    if (gguf::is_plain(recipe.dtype)) return recipe.dtype;
    if (tensor.name == "per_layer_model_proj.weight") return DType::BF16;
    const bool is_expert = tensor.extents[2] > 1;
    if (recipe.experts_alone && preset.experts.count > 0 && !is_expert)
        return fitting(DType::Q8_0, columns);
    if (tensor.name == "output.weight" || (preset.tied && tensor.name == "token_embd.weight"))
        return fitting(output_type(recipe.dtype, columns), columns);
    const auto [block, rest] = split(tensor.name);
    const bool value = rest == "attn_v.weight", key = rest == "attn_k.weight";
    DType dtype = recipe.dtype;
    if (value) {
        const bool raised = recipe.where == First ? block < 4 : better(recipe.where, block, blocks);
        if (raised) dtype = recipe.better;
        // Eight query heads share each value head of these, so that better values cost little.
        if (preset.size == "70B" && preset.heads > preset.kv_heads &&
            (dtype == DType::Q3_K || dtype == DType::Q4_K))
            dtype = DType::Q5_K;
    }
    if (rest.starts_with("ffn_down") && better(recipe.where, block, blocks)) dtype = recipe.better;
    // One matrix of queries, keys and values is worth more than each, and less than the values.
    if (rest == "attn_qkv.weight" && recipe.where == Spread)
        dtype = recipe.dtype == DType::Q4_K ? DType::Q5_K : recipe.better;
    if (preset.experts.count == 8) {
        if (value || key) dtype = DType::Q8_0;
        if (rest == "attn_output.weight" && recipe.dtype == DType::Q4_K) dtype = DType::Q5_K;
    }
    return fitting(dtype, columns);
}

uint32_t file_type(const Recipe& recipe) {
    for (const FileType& type : file_types)
        if (type.name == recipe.name) return type.number;
    return 0;
}

std::string file_type_name(int64_t file_type) {
    for (const FileType& type : file_types)
        if (type.number == file_type)
            return std::string(type.label.empty() ? type.name : type.label);
    return "unknown, may not work";
}

}  // namespace tandem::cli
