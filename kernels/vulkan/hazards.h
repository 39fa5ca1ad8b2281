// Which launches must wait for which: those that touch memory which an earlier one wrote, or write
// what it read. Everything else may run side by side.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/kernel.h"

namespace tandem::kernels::vulkan {

class Hazards {
  public:
    // True where the launch must wait for those noted since the last wait; notes it either way.
    bool must_wait(const Launch& launch);

  private:
    struct Access {
        Where where;
        int64_t begin, end;  // bytes; of a state its number and the next
        bool writes;
    };
    static std::vector<Access> accesses_of(const Launch& launch);

    std::vector<Access> noted_;
};

}  // namespace tandem::kernels::vulkan
