// The tensor records of a file's directory, and where they put the tensors.
#include <algorithm>
#include <limits>
#include <unordered_set>

#include "gguf/directory.h"
#include "gguf/fault.h"
#include "gguf/refused_types.h"

namespace tandem::gguf {

namespace {

// Deployed readers hold names in 64 bytes, the last of them zero.
constexpr size_t longest_name = 63;
constexpr int64_t most = std::numeric_limits<int64_t>::max();

std::string subject(std::string_view name, size_t index) {
    return "tensor " + in_quotes(name) + " (index " + std::to_string(index) + ")";
}

std::string read_name(Reader& reader) {
    const auto name = reader.text("name");
    if (name.empty() || name.size() > longest_name) {
        reader.fail("E_NAME", "the length of the name " + in_quotes(name) + " is " +
                                  std::to_string(name.size()) + ", allowed are 1 to " +
                                  std::to_string(longest_name));
    }
    if (std::any_of(name.begin(), name.end(), is_control)) {
        reader.fail("E_NAME", "the name " + in_quotes(name) + " has control characters");
    }
    return std::string(name);
}

void read_extents(Reader& reader, TensorInfo& tensor) {
    const auto dims = reader.number<uint32_t>("number of dimensions");
    if (dims < 1 || dims > 4) {
        reader.fail("E_DIMS",
                    "the number of dimensions is " + std::to_string(dims) + ", allowed are 1 to 4");
    }
    tensor.dims = int(dims);
    int64_t elements = 1;
    for (int i = 0; i < tensor.dims; i++) {
        const auto extent = reader.number<uint64_t>("extent");
        if (extent < 1 || extent > uint64_t(most)) {
            reader.fail("E_DIMS", "extent " + std::to_string(i) + " is " + std::to_string(extent) +
                                      ", allowed are 1 to " + std::to_string(most));
        }
        tensor.extents[i] = int64_t(extent);
        if (tensor.extents[i] > most / elements) {
            reader.fail("E_DIMS", "the product of the extents up to extent " + std::to_string(i) +
                                      " is more than " + std::to_string(most));
        }
        elements *= tensor.extents[i];
    }
}

void read_type(Reader& reader, TensorInfo& tensor) {
    const auto id = reader.number<uint32_t>("type");
    const auto dtype = dtype_from_id(id);
    if (!dtype || !traits(*dtype).in_files) reader.fail("E_TENSOR_TYPE", why_refused(id));
    tensor.dtype = *dtype;
    const DTypeTraits& type = traits(*dtype);
    if (tensor.row_length() % type.block != 0) {
        reader.fail("E_ROW_SIZE", "row length " + std::to_string(tensor.row_length()) +
                                      " is not a multiple of " + std::to_string(type.block) +
                                      " required by " + std::string(type.name));
    }
    const int64_t blocks = tensor.row_length() / type.block;
    if (blocks > (most - type.row_header) / type.block_bytes ||
        tensor.rows() > most / row_bytes(tensor.dtype, tensor.row_length())) {
        reader.fail("E_DIMS", "the tensor takes more than " + std::to_string(most) + " bytes");
    }
}

void read_offset(Reader& reader, TensorInfo& tensor, uint64_t alignment) {
    tensor.offset = reader.number<uint64_t>("offset");
    if (tensor.offset % alignment != 0) {
        reader.fail("E_OFFSET", "offset " + std::to_string(tensor.offset) +
                                    " is not a multiple of the alignment " +
                                    std::to_string(alignment));
    }
    if (tensor.offset > uint64_t(most - tensor.bytes())) {
        reader.fail("E_RANGE", "offset " + std::to_string(tensor.offset) + " and " +
                                   std::to_string(tensor.bytes()) + " bytes end beyond " +
                                   std::to_string(most));
    }
}

uint64_t end(const TensorInfo& tensor) { return tensor.offset + uint64_t(tensor.bytes()); }

}  // namespace

std::vector<TensorInfo> read_tensors(Reader& reader, uint64_t count, uint64_t alignment) {
    std::vector<TensorInfo> tensors;
    std::unordered_set<std::string> names;
    for (uint64_t i = 0; i < count; i++) {
        TensorInfo& tensor = tensors.emplace_back();
        reader.set_subject("tensor (index " + std::to_string(i) + ")");
        tensor.name = read_name(reader);
        if (!names.insert(tensor.name).second) {
            reader.fail("E_DUPLICATE",
                        "the name " + in_quotes(tensor.name) + " appears a second time");
        }
        reader.set_subject(subject(tensor.name, i));
        read_extents(reader, tensor);
        read_type(reader, tensor);
        read_offset(reader, tensor, alignment);
    }
    return tensors;
}

void check_layout(std::span<const TensorInfo> tensors, uint64_t data_start, uint64_t file_bytes,
                  const std::string& path, Content content) {
    std::vector<size_t> order(tensors.size());
    for (size_t i = 0; i < order.size(); i++) order[i] = i;
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return tensors[a].offset < tensors[b].offset; });
    for (size_t i = 1; i < order.size(); i++) {
        const TensorInfo& before = tensors[order[i - 1]];
        const TensorInfo& after = tensors[order[i]];
        if (after.offset >= end(before)) continue;
        throw fault(path, "E_OVERLAP",
                    subject(after.name, order[i]) + ": begins at offset " +
                        std::to_string(after.offset) + ", inside " +
                        subject(before.name, order[i - 1]) + ", which ends at " +
                        std::to_string(end(before)),
                    data_start + after.offset);
    }
    if (content == Content::Directory || tensors.empty()) return;

    // Ranges that do not overlap are in the order of their ends, too.
    const uint64_t needed = data_start + end(tensors[order.back()]);
    if (needed <= file_bytes) return;
    const std::string shortage = "the file is " + std::to_string(needed - file_bytes) +
                                 " bytes too short; if it is a download, it is incomplete";
    if (data_start > file_bytes) {
        throw fault(path, "E_TRUNCATED", "the file ends before its tensor data: " + shortage,
                    file_bytes);
    }
    const uint64_t data_bytes = file_bytes - data_start;
    const auto first = std::ranges::find_if(
        tensors, [&](const TensorInfo& tensor) { return end(tensor) > data_bytes; });
    throw fault(path, "E_RANGE",
                subject(first->name, size_t(first - tensors.begin())) + ": its " +
                    std::to_string(first->bytes()) + " bytes at offset " +
                    std::to_string(first->offset) + " end outside the " +
                    std::to_string(data_bytes) + " bytes of tensor data: " + shortage,
                data_start + first->offset);
}

}  // namespace tandem::gguf
