// Random numbers that are the same on every platform: a 32-bit Mersenne Twister, whose outputs the
// standard defines, and our own way from them to [0, 1), which it leaves open.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

namespace tandem::model {

class Random {
  public:
    explicit Random(uint32_t seed) : engine_(seed) {}

    double uniform() {  // in [0, 1), two outputs
        double low = double(engine_()), high = double(engine_());
        return std::min((low + high * 0x1p32) * 0x1p-64, std::nextafter(1.0, 0.0));
    }
    float uniform_float() {  // in [0, 1), one output
        return std::min(float(engine_()) * 0x1p-32f, std::nextafter(1.0f, 0.0f));
    }

  private:
    std::mt19937 engine_;
};

}  // namespace tandem::model
