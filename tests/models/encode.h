// Encoders of the types that the product only reads, good enough to predict text with. They know
// where the numbers of a block stand (fields.h); what these mean the decoder says, block by block.
#pragma once

#include <array>
#include <limits>
#include <span>
#include <vector>

#include "models/fields.h"
#include "models/points.h"

namespace tandem::test {

class Encoder {
  public:
    explicit Encoder(const Format& format);
    // A whole row.
    void encode(std::span<const float> values, std::byte* row) const;

  private:
    // What a group may be written as.
    struct Choice {
        double error = std::numeric_limits<double>::infinity();
        uint32_t scale = 0, variant = 0;
        std::array<uint32_t, 32> codes{};  // of its units
        std::array<uint32_t, 4> signs{};   // of eight elements each
        float fitted = 0;                  // the best scale of these codes
    };

    std::vector<float> decoded(uint32_t scale, uint32_t variant, uint32_t first_code) const;
    float put_base(float base, uint8_t* row, uint8_t* block) const;
    void put_group(uint32_t group, const Choice& choice, uint8_t* block) const;
    uint32_t nearest_scale(float factor) const;
    void negate(float* targets, Choice& choice) const;
    Choice attempt(const float* x, uint32_t variant, float scale) const;
    Choice fitted(const float* x) const;
    Choice stored(const float* x, float base, float fitted) const;

    const Format& format_;
    const gguf::DTypeTraits& traits_;
    std::vector<Points> points_;  // for each variant
    std::vector<float> factors_;  // of the scales
};

}  // namespace tandem::test
