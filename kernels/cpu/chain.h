// Launches that follow each other and treat every token by itself. A prompt goes through all of
// them a few tokens at a time, so that what one writes the next finds in the cache. Of a few tokens
// each member takes its own through all, so that the team meets once.
#pragma once

#include <span>
#include <vector>

#include "kernels/cpu/site.h"

namespace tandem::kernels::cpu {

// Launches [first, last) of a recording.
struct Chain {
    size_t first = 0, last = 0;
    bool by_tokens = false;  // else it is one launch, done by all members together
    bool of_few = false;     // its values have room for a few tokens only
};

// Divides launches into chains.
std::vector<Chain> chains_of(std::span<const Launch> launches, const Site& site);

// Runs a chain, whose tasks are `tasks`, for `count` tokens dealt to the team; tells lap(worker,
// number of the task) after each. False, and nothing is done, where there are too few tokens to go
// round, or is one launch of a few, whose rows are divided further than by tokens.
template <typename Lap>
bool run_by_tokens(const Chain& chain, std::span<const Task> tasks, int64_t count,
                   const Worker& worker, Lap lap) {
    if (!chain.by_tokens) return false;
    auto run = [&](const Worker& member, const Range& some) {
        Worker one = member;
        one.only = &some;
        for (size_t i = chain.first; i < chain.last; ++i) {
            tasks[i](one);
            lap(member, i);
        }
    };
    if (chain.of_few) {
        if (chain.last - chain.first == 1) return false;
        const Range own = worker.share(count);
        if (own.count() > 0) run(worker, own);
        return true;
    }
    const int64_t tiles = tiles_of(count);
    if (tiles < 4 * worker.count) return false;
    worker.deal(tiles, 1, [&](const Worker& member, Range part) {
        for (int64_t tile = part.first; tile < part.last; ++tile)
            run(member, {tile * tile_tokens, (tile + 1) * tile_tokens});
    });
    return true;
}

}  // namespace tandem::kernels::cpu
