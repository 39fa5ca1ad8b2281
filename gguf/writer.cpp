#include "gguf/writer.h"

#include <cerrno>
#include <system_error>

#include "gguf/directory.h"
#include "gguf/fault.h"
#include "gguf/serial.h"

namespace tandem::gguf {

namespace {

uint64_t round_up(uint64_t value, uint64_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

// Before the tensor's bytes can be counted.
void check_row(const TensorInfo& tensor, const std::string& path) {
    const DTypeTraits& type = traits(tensor.dtype);
    if (tensor.row_length() % type.block == 0) return;
    throw fault(path, "E_ROW_SIZE",
                "tensor " + in_quotes(tensor.name) + ": row length " +
                    std::to_string(tensor.row_length()) + " is not a multiple of " +
                    std::to_string(type.block) + " required by " + std::string(type.name));
}

}  // namespace

Writer::Writer(const std::filesystem::path& path, const Metadata& metadata,
               std::vector<TensorInfo> tensors, const std::string& name)
    : name_(name.empty() ? path.string() : name), tensors_(std::move(tensors)) {
    alignment_ = read_alignment(metadata, name_);
    uint64_t offset = 0;
    for (TensorInfo& tensor : tensors_) {
        check_row(tensor, name_);
        tensor.offset = offset;
        offset += round_up(uint64_t(tensor.bytes()), alignment_);
    }
    const std::string text = serialize(metadata, tensors_, name_);
    const auto head = std::as_bytes(std::span(text));
    // What the reader refuses must not be written.
    read_directory(head, name_, Content::Directory);

    out_.open(path, std::ios::binary | std::ios::trunc);
    append(head);
    pad();
}

void Writer::write(std::span<const std::byte> bytes) {
    check(current_ < tensors_.size(), "no more bytes are written than the tensors have");
    const int64_t left = tensors_[current_].bytes() - written_;
    check(int64_t(bytes.size()) <= left, "no more bytes are written than the tensor has");
    append(bytes);
    written_ += int64_t(bytes.size());
    if (int64_t(bytes.size()) < left) return;
    pad();
    current_++;
    written_ = 0;
}

void Writer::finish(bool directory_only) {
    check(directory_only ? current_ == 0 && written_ == 0 : current_ == tensors_.size(),
          "a file is finished when all its tensors are written, or none is to be");
    out_.close();
    check_stream();
}

void Writer::append(std::span<const std::byte> bytes) {
    out_.write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
    position_ += bytes.size();
    check_stream();
}

void Writer::check_stream() const {
    if (out_) return;
    throw fault(name_, "E_IO", "cannot be written: " + std::generic_category().message(errno));
}

void Writer::pad() {
    const std::vector<std::byte> zeros(size_t(round_up(position_, alignment_) - position_));
    append(zeros);
}

}  // namespace tandem::gguf
