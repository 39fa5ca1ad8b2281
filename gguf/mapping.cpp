#include "gguf/mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "gguf/fault.h"

namespace tandem::gguf {

namespace {

// An open file, closed at the end of the scope; a mapping outlives it.
class Descriptor {
  public:
    // Without a wait for whoever writes to a named pipe, which is refused.
    explicit Descriptor(const std::filesystem::path& path)
        : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int number() const { return number_; }

  private:
    int number_;
};

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what) {
    const std::string reason = std::generic_category().message(errno);
    throw fault(path.string(), "E_IO", what + ": " + reason);
}

}  // namespace

Mapping::Mapping(const std::filesystem::path& path) {
    const Descriptor file(path);
    if (file.number() < 0) fail(path, "cannot be opened");
    struct stat status {};
    if (::fstat(file.number(), &status) != 0) fail(path, "its size cannot be read");
    if (!S_ISREG(status.st_mode)) throw fault(path.string(), "E_IO", "is not a regular file");
    const auto size = size_t(status.st_size);
    if (size == 0) return;  // nothing to map
    void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
    if (address == MAP_FAILED) fail(path, "cannot be mapped into memory");
    bytes_ = {static_cast<const std::byte*>(address), size};
}

Mapping::~Mapping() {
    if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace tandem::gguf
