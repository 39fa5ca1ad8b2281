#include "kernels/storage.h"

#include <algorithm>
#include <string>
#include <utility>

#include "gguf/error.h"
#include "kernels/host.h"

namespace tandem::kernels {

namespace {

constexpr int64_t small_page = 4096;

// A page, so that memory first touched by a thread is near its core from the first byte on. What
// is streamed through many pages takes large ones, which the processor looks up and prefetches in
// one go.
std::align_val_t alignment(int64_t bytes) {
    return std::align_val_t(bytes >= large_page ? large_page : small_page);
}

// Of weights: what none of them takes is never touched.
constexpr int64_t slab_bytes = int64_t(64) << 20;

constexpr int64_t rounded_up(int64_t bytes, int64_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

}  // namespace

void Buffer::Delete::operator()(std::byte* memory) const {
    ::operator delete[](memory, alignment(bytes));
}

Buffer::Buffer(int64_t bytes, std::string_view remedy) : bytes_(bytes) {
    if (bytes == 0) return;
    auto* memory =
        static_cast<std::byte*>(::operator new[](size_t(bytes), alignment(bytes), std::nothrow));
    if (!memory)
        throw Error("out of memory: " + std::to_string(bytes >> 20) + " MiB are not available; " +
                    std::string(remedy));
    if (bytes >= large_page) use_large_pages(memory, bytes);
    data_ = {memory, Delete{bytes}};
}

std::byte* WeightMemory::make(int value, int64_t bytes) {
    forget(value);
    Slab& slab = slab_for(bytes);
    std::byte* const data = slab.memory.data() + slab.used;
    const int64_t taken = rounded_up(bytes, small_page);
    slab.used += taken;
    ++slab.weights;
    places_[value] = {size_t(&slab - slabs_.data()), data, taken};
    return data;
}

void WeightMemory::shrink(int value, int64_t bytes) {
    Place& place = places_.at(value);
    Slab& slab = slabs_[place.slab];
    const int64_t taken = rounded_up(bytes, small_page);
    if (place.data + place.bytes == slab.memory.data() + slab.used)
        slab.used -= place.bytes - taken;
    place.bytes = taken;
}

void WeightMemory::trim() {
    for (const Slab& slab : slabs_)
        if (slab.used < slab.memory.bytes())
            give_back(slab.memory.data() + slab.used, slab.memory.bytes() - slab.used);
}

int64_t WeightMemory::bytes() const {
    int64_t sum = 0;
    for (const Slab& slab : slabs_) sum += slab.memory.bytes();
    return sum;
}

void WeightMemory::forget(int value) {
    const auto old = places_.find(value);
    if (old == places_.end()) return;
    Slab& slab = slabs_[old->second.slab];
    if (--slab.weights == 0) slab = {};
    places_.erase(old);
}

WeightMemory::Slab& WeightMemory::slab_for(int64_t bytes) {
    for (Slab& slab : slabs_)
        if (slab.weights > 0 && slab.memory.bytes() - slab.used >= bytes) return slab;
    Buffer memory(rounded_up(std::max(bytes, slab_bytes), large_page));
    for (Slab& slab : slabs_)
        if (slab.weights == 0) return slab = {.memory = std::move(memory)};
    return slabs_.emplace_back(Slab{.memory = std::move(memory)});
}

}  // namespace tandem::kernels
