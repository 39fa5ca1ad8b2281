#include "cli/tiny_model.h"

#include <unistd.h>

#include <fstream>
#include <random>
#include <sstream>

#include "gguf/writer.h"

namespace tandem::test {

namespace {

constexpr int embd = 32, heads = 4, kv_heads = 2, ffn = 48, layers = 2;

// Removed at the end of the process.
struct Folder {
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("tandem-cli-" + std::to_string(getpid()));
    Folder() { std::filesystem::create_directories(path); }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
};

void add_tokenizer(gguf::Metadata& metadata) {
    std::vector<std::string> tokens{"<unk>", "<s>", "</s>"};
    std::vector<int64_t> types{2, 3, 3};
    for (int byte = 0; byte < 256; ++byte) {
        char text[8];
        std::snprintf(text, sizeof text, "<0x%02X>", byte);
        tokens.emplace_back(text);
        types.push_back(6);
    }
    tokens.emplace_back("\xe2\x96\x81");
    for (char letter = 'a'; letter <= 'z'; ++letter) tokens.emplace_back(1, letter);
    types.resize(tokens.size(), 1);
    std::vector<double> scores(tokens.size(), 0.0);
    metadata.set_string("tokenizer.ggml.model", "llama");
    metadata.set("tokenizer.ggml.tokens", {gguf::ValueType::String, true, tokens});
    metadata.set("tokenizer.ggml.scores", {gguf::ValueType::F32, true, scores});
    metadata.set("tokenizer.ggml.token_type", {gguf::ValueType::I32, true, types});
    metadata.set_u32("tokenizer.ggml.bos_token_id", 1);
    metadata.set_u32("tokenizer.ggml.eos_token_id", 2);
}

std::filesystem::path write_model(const std::string& name, const TinyChange& change) {
    gguf::Metadata metadata;
    metadata.set_string("general.architecture", "llama");
    metadata.set_string("general.name", "tiny");
    metadata.set_u32("llama.context_length", 64);
    metadata.set_u32("llama.embedding_length", embd);
    metadata.set_u32("llama.feed_forward_length", ffn);
    metadata.set_u32("llama.block_count", layers);
    metadata.set_u32("llama.attention.head_count", heads);
    metadata.set_u32("llama.attention.head_count_kv", kv_heads);
    metadata.set_u32("llama.rope.dimension_count", embd / heads);
    metadata.set_f32("llama.attention.layer_norm_rms_epsilon", 1e-5f);
    add_tokenizer(metadata);
    if (change.keys) change.keys(metadata);

    std::vector<gguf::TensorInfo> tensors;
    auto add = [&](const std::string& name, int64_t columns, int64_t rows) {
        tensors.push_back(
            {.name = name + ".weight", .dims = rows > 1 ? 2 : 1, .extents = {columns, rows, 1, 1}});
    };
    add("token_embd", embd, change.tokens);
    for (int i = 0; i < layers; ++i) {
        std::string block = "blk." + std::to_string(i) + ".";
        add(block + "attn_norm", embd, 1);
        add(block + "attn_q", embd, embd);
        add(block + "attn_k", embd, embd / heads * kv_heads);
        add(block + "attn_v", embd, embd / heads * kv_heads);
        add(block + "attn_output", embd, embd);
        add(block + "ffn_norm", embd, 1);
        add(block + "ffn_gate", embd, ffn);
        add(block + "ffn_up", embd, ffn);
        add(block + "ffn_down", ffn, embd);
    }
    add("output_norm", embd, 1);
    add("output", embd, change.tokens);

    std::filesystem::path path = own_folder() / name;
    gguf::Writer writer(path, metadata, tensors);
    std::mt19937 random(1);
    for (const gguf::TensorInfo& tensor : tensors) {
        std::vector<float> values(size_t(tensor.elements()));
        float scale = tensor.dims == 1 ? 0 : 2.0f / float(tensor.row_length());
        if (tensor.name == "output.weight") scale *= change.scale;
        for (float& value : values)
            value = scale == 0 ? 1 : scale * (float(random()) * 0x1p-32f - 0.5f) * 4;
        writer.write(std::as_bytes(std::span(values)));
    }
    writer.finish();
    return path;
}

}  // namespace

const std::filesystem::path& own_folder() {
    static const Folder folder;
    return folder.path;
}

const std::filesystem::path& tiny_model() {
    static const std::filesystem::path path = write_model("tiny.gguf", {});
    return path;
}

std::filesystem::path changed_tiny_model(const std::string& name, const TinyChange& change) {
    return write_model(name, change);
}

std::filesystem::path write_file(const std::string& name, const std::string& bytes) {
    std::filesystem::path path = own_folder() / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
}

std::string read_file(const std::filesystem::path& path) {
    std::stringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

std::vector<std::string> with_little_memory(const std::vector<std::string>& devices) {
    std::string rows;
    for (const std::string& name : devices)
        rows += (rows.empty() ? "" : ", ") + std::string(R"({"name": ")") + name +
                R"(", "free_bytes": 1073741824, "bytes_per_second": 1, )" +
                R"("multiply_adds_per_second": 1})";
    return {"--device-table", write_file("little.json", R"({"devices": [)" + rows + "]}").string()};
}

}  // namespace tandem::test
