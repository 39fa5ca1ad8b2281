#include "cli/output_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>
#include <optional>

#include "gguf/error.h"

namespace tandem::cli {

namespace fs = std::filesystem;

namespace {

bool is_regular(const fs::path& path) {
    std::error_code none;
    return fs::is_regular_file(path, none);
}

// The standard stream that goes to `path` already: opened once more, a file is written from its
// beginning on, over what the stream has put there. Null where there is none, or only a device.
std::ostream* stream_to(const fs::path& path) {
    struct stat wanted, known;
    if (stat(path.c_str(), &wanted) != 0 || S_ISCHR(wanted.st_mode)) return nullptr;
    const auto goes_there = [&](int descriptor) {
        return fstat(descriptor, &known) == 0 && known.st_dev == wanted.st_dev &&
               known.st_ino == wanted.st_ino;
    };
    if (goes_there(STDOUT_FILENO)) return &std::cout;
    return goes_there(STDERR_FILENO) ? &std::cerr : nullptr;
}

std::error_code take_place(const fs::path& file, const fs::path& place) {
    std::error_code error;
    const fs::file_status before = fs::status(place, error);
    if (fs::exists(before)) fs::permissions(file, before.permissions(), error);
    fs::rename(file, place, error);
    return error;
}

}  // namespace

bool is_model(const fs::path& path) {
    char magic[4] = {};
    return is_regular(path) && std::ifstream(path, std::ios::binary).read(magic, sizeof magic) &&
           std::string_view(magic, sizeof magic) == "GGUF";
}

OutputFile::OutputFile(std::string path, std::string what, Interrupts* interrupts)
    : path_(std::move(path)),
      what_(std::move(what)),
      stream_(stream_to(path_)),
      out_(stream_ ? *stream_ : file_) {
    if (is_model(path_)) fail("it is a model");
    std::error_code none;
    is_new_ = !fs::exists(path_, none);
    open_file(interrupts);
    require_good();
    earlier_ = std::signal(SIGPIPE, SIG_IGN);
}

// Whoever is to read a pipe may never come.
void OutputFile::open_file(Interrupts* interrupts) {
    std::optional<EndedByInterrupt> ended;
    if (interrupts) ended.emplace(*interrupts);
    if (!stream_) file_.open(path_, std::ios::binary | std::ios::app);
}

OutputFile::~OutputFile() {
    std::error_code none;
    file_.close();
    std::signal(SIGPIPE, earlier_);
    if (is_new_ && fs::is_empty(path_, none)) fs::remove(fs::canonical(path_, none), none);
}

// What was there goes.
void OutputFile::begin() {
    if (!stream_ && !written_ && is_regular(path_)) fs::resize_file(path_, 0);
    written_ = true;
}

void OutputFile::write(std::string_view bytes) {
    begin();
    out_.write(bytes.data(), std::streamsize(bytes.size()));
    require_good();
}

void OutputFile::finish() {
    out_.flush();
    require_good();
}

void OutputFile::replace(std::string_view bytes) {
    replace([&](std::ostream& out) { out.write(bytes.data(), std::streamsize(bytes.size())); });
}

void OutputFile::replace(const std::function<void(std::ostream& out)>& write) {
    std::error_code none;
    fs::path place;  // that another file can take; empty for a device, a pipe and a stream
    if (!stream_ && is_regular(path_)) place = fs::canonical(path_, none);
    const fs::path beside = place.string() + "." + std::to_string(::getpid());
    std::ofstream out;
    if (!place.empty()) out.open(beside, std::ios::binary | std::ios::trunc);
    // A file may be writable where its folder is not, or takes no longer name.
    if (place.empty() || !out) {
        begin();
        write(out_);
        return finish();
    }
    try {
        write(out);
    } catch (...) {
        fs::remove(beside, none);
        throw;
    }
    out.close();
    std::error_code error(errno, std::generic_category());
    if (out) error = take_place(beside, place);
    if (!error) return;
    fs::remove(beside, none);
    fail(error.message());
}

void OutputFile::fail(const std::string& why) const {
    throw Error("cannot write " + what_ + " to " + path_ + ": " + why);
}

void OutputFile::require_good() const {
    if (!out_) fail(std::strerror(errno));
}

}  // namespace tandem::cli
