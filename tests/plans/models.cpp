#include "models.h"

#include <algorithm>

#include "checkpoints.h"
#include "data.h"
#include "gguf/folder.h"

namespace tandem::test {

using namespace parallel;

namespace {

constexpr const char* names[] = {"llama-yarn-bf16",
                                 "llama-moe",
                                 "llama-q-q4_k_m",
                                 "qwen3-bf16",
                                 "qwen3moe",
                                 "qwen3moe-q-mxfp4",
                                 "qwen2",
                                 "glm4",
                                 "gemma3",
                                 "gemma4-dense",
                                 "llama-8b-q4_k_m",
                                 "qwen3-30b-a3b-q4_k_m",
                                 "llama-70b-q4_k_m",
                                 "qwen3-235b-a22b-q4_k_m",
                                 "qwen3-next-80b-q4_k_m",
                                 "qwen3.5-27b-q4_k_m",
                                 "qwen3.5-397b-q4_k_m",
                                 "gpt-oss-20b-mxfp4",
                                 "gpt-oss-120b-mxfp4",
                                 "glm-4.5-air-q4_k_m",
                                 "glm-4.5-q4_k_m",
                                 "kimi-linear-48b-q4_k_m",
                                 "gemma4-26b-q4_k_m",
                                 "deepseek-v3-q4_k_m"};

}  // namespace

std::span<const char* const> model_names() { return names; }

bool is_published(const std::string& name) {
    std::vector<std::string> all = checkpoint_names();
    return std::find(all.begin(), all.end(), name) != all.end();
}

void with_model(const std::string& name, const std::function<void(const gguf::File&)>& use) {
    Folder folder;
    std::filesystem::path path = folder / "model.gguf";
    if (!write_checkpoint(name, path)) path = test::data("fixtures/" + name + ".gguf");
    use(gguf::File::open(path, gguf::Content::Directory));
}

DeviceTable first_devices(size_t count) {
    DeviceTable table = read_device_table(test::data("devices/eight.json"));
    table.devices.resize(count);
    table.links.resize(count);
    for (auto& row : table.links) row.resize(count);
    return table;
}

Planned plan_model(const gguf::File& file, DeviceTable table, const PlanOptions& options) {
    model::Options choices{.context = options.context};
    return plan_on(model::build(file, choices), std::move(table), options);
}

}  // namespace tandem::test
