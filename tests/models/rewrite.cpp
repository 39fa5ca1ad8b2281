#include "models/rewrite.h"

#include "gguf/writer.h"

namespace tandem::test {

std::vector<Stored> read_all(const gguf::File& file) {
    std::vector<Stored> tensors;
    for (const gguf::TensorInfo& info : file.tensors()) {
        auto data = file.data(info);
        tensors.push_back({info, {data.begin(), data.end()}});
    }
    return tensors;
}

std::filesystem::path write(const std::filesystem::path& path, const gguf::Metadata& metadata,
                            const std::vector<Stored>& tensors) {
    std::vector<gguf::TensorInfo> infos;
    for (const Stored& tensor : tensors) infos.push_back(tensor.info);
    gguf::Writer writer(path, metadata, infos);
    for (const Stored& tensor : tensors) writer.write(tensor.bytes);
    writer.finish();
    return path;
}

}  // namespace tandem::test
