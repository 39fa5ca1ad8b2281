// How a model is divided: the split mode, the number of devices, their shares, and what leaves
// them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "parallel/home.h"

namespace tandem::test {

struct Mapping {
    const char* mode;
    size_t devices;
    std::vector<double> ratio;
    std::vector<parallel::Home> homes = {};
    int home_devices = 0;  // so many of the devices, the last ones, are only homes
};

// "-sm tensor on 3 9,1,9" or "-sm layer on 2, ffn on {1}"
std::string to_string(const Mapping& mapping);

}  // namespace tandem::test
