#include "models.h"

#include "checkpoints.h"
#include "data.h"
#include "gguf/folder.h"

namespace tandem::test {

using namespace parallel;

namespace {

constexpr const char* names[] = {
    "llama-yarn-bf16", "llama-moe",        "llama-q-q4_k_m",  "qwen3-bf16",
    "qwen3moe",        "qwen3moe-q-mxfp4", "llama-8b-q4_k_m", "qwen3-30b-a3b-q4_k_m"};

}  // namespace

std::span<const char* const> model_names() { return names; }

void with_model(const std::string& name, const std::function<void(const gguf::File&)>& use) {
    std::filesystem::path path = test::data("fixtures/" + name + ".gguf");
    Folder folder;
    if (name == "llama-8b-q4_k_m") write_llama_8b(path = folder / "model.gguf");
    if (name == "qwen3-30b-a3b-q4_k_m") write_qwen3_30b_a3b(path = folder / "model.gguf");
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
