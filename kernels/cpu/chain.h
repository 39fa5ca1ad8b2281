// Launches that follow each other and treat every token by itself. A prompt goes through all of
// them a few tokens at a time, so that what one writes the next finds in the cache.
#pragma once

#include <span>
#include <vector>

#include "kernels/cpu/site.h"

namespace tandem::kernels::cpu {

// Launches [first, last) of a recording.
struct Chain {
    size_t first = 0, last = 0;
    bool by_tokens = false;  // else it is one launch, done by all members together
};

// Divides launches into chains.
std::vector<Chain> chains_of(std::span<const Launch> launches, const Site& site);

// Runs a chain, whose tasks are `tasks`, for `count` tokens dealt to the team; tells lap(worker,
// number of the task) after each. False, and nothing is done, where there are too few tokens to go
// round.
template <typename Lap>
bool run_by_tokens(const Chain& chain, std::span<const Task> tasks, int64_t count,
                   const Worker& worker, Lap lap) {
    const int64_t tiles = tiles_of(count);
    if (!chain.by_tokens || tiles < 4 * worker.count) return false;
    worker.deal(tiles, 1, [&](const Worker& member, Range part) {
        for (int64_t tile = part.first; tile < part.last; ++tile) {
            const Range some{tile * tile_tokens, (tile + 1) * tile_tokens};
            Worker one = member;
            one.only = &some;
            for (size_t i = chain.first; i < chain.last; ++i) {
                tasks[i](one);
                lap(member, i);
            }
        }
    });
    return true;
}

}  // namespace tandem::kernels::cpu
