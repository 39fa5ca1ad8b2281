#include "cli/checksum.h"

#include <algorithm>
#include <cstring>

namespace tandem::cli {

namespace {

uint64_t mixed(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;  // odd
    return hash ^ hash >> 32;
}

uint64_t word_at(const std::byte* bytes) {
    uint64_t word;
    std::memcpy(&word, bytes, sizeof word);
    return word;
}

}  // namespace

void Checksum::add(std::span<const std::byte> bytes) {
    const size_t filled = count_ % sizeof rest_;
    count_ += bytes.size();
    if (filled > 0) {
        const size_t more = std::min(sizeof rest_ - filled, bytes.size());
        std::copy_n(bytes.begin(), more, rest_ + filled);
        if (filled + more < sizeof rest_) return;
        hash_ = mixed(hash_, word_at(rest_));
        bytes = bytes.subspan(more);
    }
    for (; bytes.size() >= sizeof rest_; bytes = bytes.subspan(sizeof rest_))
        hash_ = mixed(hash_, word_at(bytes.data()));
    std::ranges::copy(bytes, rest_);
}

uint64_t Checksum::value() const {
    std::byte last[8] = {};
    std::copy_n(rest_, count_ % sizeof rest_, last);
    return mixed(mixed(hash_, word_at(last)), count_);
}

}  // namespace tandem::cli
