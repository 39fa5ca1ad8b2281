// One exchange, run by as many threads as devices take part in it, over and over, against what the
// ranges or addends give when they are put together plainly.
#pragma once

#include <memory>
#include <vector>

#include "parallel/communicator/host.h"
#include "random.h"

namespace tandem::test {

struct Trial {
    parallel::Exchange::Kind kind = parallel::Exchange::Kind::Sum;
    parallel::Group sources, receivers;
    bool to_host = false;
    // Of a Place: the sources' ranges of [tokens middle last], along one of its axes; empty: each
    // source has all of it.
    std::vector<int64_t> bounds;
    bool along_middle = false;
    int transfers = 1;
    bool ids = false;     // bit patterns that are no numbers
    bool sleeps = false;  // everyone is late now and then
    bool spin = false;
    parallel::Wire wire = parallel::Wire::F32;
    int rounds = 6;
    uint64_t seed = 1;
};

// Expects that every receiver gets, in every round, the very bits that it should.
void expect_exchanged(const Trial& trial);

}  // namespace tandem::test
