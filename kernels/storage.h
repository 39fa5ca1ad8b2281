// Aligned host memory of devices that work there: owners of weights, states and the arena.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace tandem::kernels {

class Buffer {
  public:
    Buffer() = default;
    explicit Buffer(int64_t bytes);  // not initialised; Error when there is not enough memory

    std::byte* data() const { return data_.get(); }
    int64_t bytes() const { return bytes_; }

  private:
    struct Delete {
        void operator()(std::byte* memory) const;
    };
    std::unique_ptr<std::byte[], Delete> data_;
    int64_t bytes_ = 0;
};

}  // namespace tandem::kernels
