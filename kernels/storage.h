// Aligned host memory of devices that work there: owners of weights, states, the arena and exchange
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

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

// Weights of a device, in the order of their making one behind the other. So they share large
// pages, which small ones and the ends of others by themselves would not get, and memory gives the
// next one as it goes on with the one before.
class WeightMemory {
  public:
    // Memory of a weight, instead of any that it had: aligned to 4096 bytes and not initialised.
    std::byte* make(int value, int64_t bytes);
    // Less than it was made with is enough: the next one made may take the rest.
    void shrink(int value, int64_t bytes);
    // Gives back what the last large pages of the weights have behind them, for when no other
    // weights are to come.
    void trim();
    std::byte* at(int value) const { return places_.at(value).data; }
    // Set aside for all of them; what is never written takes no memory of the machine.
    int64_t bytes() const;

  private:
    struct Slab {
        Buffer memory;
        int64_t used = 0;
        int weights = 0;
    };
    struct Place {
        size_t slab;
        std::byte* data;
        int64_t bytes;  // in whole pages
    };
    void forget(int value);
    Slab& slab_for(int64_t bytes);

    std::vector<Slab> slabs_;
    std::map<int, Place> places_;
};

}  // namespace tandem::kernels
