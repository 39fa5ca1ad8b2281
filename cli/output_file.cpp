#include "cli/output_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "gguf/error.h"

namespace tandem::cli {

namespace fs = std::filesystem;

namespace {

bool is_regular(const fs::path& path) {
    std::error_code none;
    return fs::is_regular_file(path, none);
}

bool is_model(const fs::path& path) {
    char magic[4] = {};
    return is_regular(path) && std::ifstream(path, std::ios::binary).read(magic, sizeof magic) &&
           std::string_view(magic, sizeof magic) == "GGUF";
}

}  // namespace

OutputFile::OutputFile(std::string path, std::string what)
    : path_(std::move(path)), what_(std::move(what)) {
    if (is_model(path_)) fail("it is a model");
    std::error_code none;
    is_new_ = !fs::exists(path_, none);
    out_.open(path_, std::ios::binary | std::ios::app);
    require_good();
}

OutputFile::~OutputFile() {
    std::error_code none;
    if (is_new_ && !written_) fs::remove(path_, none);
}

void OutputFile::write(std::string_view bytes) {
    if (!written_ && is_regular(path_)) fs::resize_file(path_, 0);
    written_ = true;
    out_.write(bytes.data(), std::streamsize(bytes.size()));
    require_good();
}

void OutputFile::finish() {
    out_.flush();
    require_good();
}

void OutputFile::fail(const std::string& why) const {
    throw Error("cannot write " + what_ + " to " + path_ + ": " + why);
}

void OutputFile::require_good() const {
    if (!out_) fail(std::strerror(errno));
}

}  // namespace tandem::cli
