// How a model is divided: the split mode, the number of devices, and their shares.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tandem::test {

struct Mapping {
    const char* mode;
    size_t devices;
    std::vector<double> ratio;
};

// "-sm tensor on 3 9,1,9"
std::string to_string(const Mapping& mapping);

}  // namespace tandem::test
