// Aligned host memory of devices that work there: owners of weights, states, the arena and exchange
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string_view>

namespace tandem::kernels {

class Buffer {
  public:
    Buffer() = default;
    // Not initialised. Error when there is not enough memory, which ends in what would help.
    explicit Buffer(int64_t bytes, std::string_view remedy =
                                       "use a smaller model, a shorter context or more devices");

    std::byte* data() const { return data_.get(); }
    int64_t bytes() const { return bytes_; }

  private:
    struct Delete {
        int64_t bytes;
        void operator()(std::byte* memory) const;
    };
    std::unique_ptr<std::byte[], Delete> data_;
    int64_t bytes_ = 0;
};

}  // namespace tandem::kernels
