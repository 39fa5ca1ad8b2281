#include "models/encode.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "gguf/quants/rows.h"

namespace tandem::test {

namespace {

// The one furthest from zero.
float extreme(std::span<const float> values) {
    float most = 0;
    for (float value : values)
        if (std::abs(value) > std::abs(most)) most = value;
    return most;
}

}  // namespace

// The scale whose bits are all set is none of the zeros: points are learned with it, and all others
// as multiples of it.
Encoder::Encoder(const Format& format) : format_(format), traits_(gguf::traits(format.dtype)) {
    const uint32_t codes = count(format_.codes), scales = count(format_.scales);
    for (uint32_t variant = 0; variant < 1u << format_.variants.bits; ++variant) {
        std::vector<float> values;
        while (values.size() < codes * format_.unit) {
            const auto more = decoded(scales - 1, variant, uint32_t(values.size()) / format_.unit);
            values.insert(values.end(), more.begin(), more.end());
        }
        values.resize(codes * format_.unit);
        points_.emplace_back(format_.unit, values);
    }
    const uint32_t extreme = points_[0].extreme();
    for (uint32_t scale = 0; scale < scales; ++scale)
        factors_.push_back(decoded(scale, 0, extreme / format_.unit)[extreme % format_.unit] /
                           points_[0][0][extreme]);
}

// A block of consecutive codes, unit by unit.
std::vector<float> Encoder::decoded(uint32_t scale, uint32_t variant, uint32_t first_code) const {
    std::vector<uint8_t> row(traits_.row_header + traits_.block_bytes);
    uint8_t* block = row.data() + traits_.row_header;
    put_base(1, row.data(), block);
    for (uint32_t group = 0; group < traits_.block / format_.group; ++group) {
        Choice choice{.scale = scale, .variant = variant};
        for (uint32_t i = 0; i < format_.group / format_.unit; ++i)
            choice.codes[i] = first_code + group * (format_.group / format_.unit) + i;
        put_group(group, choice, block);
    }
    std::vector<float> values(traits_.block), ordered;
    gguf::decode_row(format_.dtype, reinterpret_cast<const std::byte*>(row.data()), values);
    for (uint32_t i = 0; i < traits_.block; ++i) ordered.push_back(values[place(format_.order, i)]);
    return ordered;
}

// Gives the base as it is stored.
float Encoder::put_base(float base, uint8_t* row, uint8_t* block) const {
    if (traits_.row_header == 4) {
        gguf::store(row, base);
        return base;
    }
    const uint16_t bits = gguf::f32_to_f16(base);
    if (traits_.row_header == 2)
        gguf::store(row, bits);
    else
        put(format_.base, 0, bits, block);
    return gguf::f16_to_f32(bits);
}

void Encoder::put_group(uint32_t group, const Choice& choice, uint8_t* block) const {
    const uint32_t units = format_.group / format_.unit, octets = format_.group / 8;
    put(format_.scales, group, choice.scale, block);
    put(format_.variants, group, choice.variant, block);
    for (uint32_t i = 0; i < units; ++i)
        put(format_.codes, units * group + i, choice.codes[i], block);
    for (uint32_t i = 0; i < octets; ++i) {
        if (format_.signs.bits == 7) put(format_.signs, octets * group + i, choice.signs[i], block);
        if (format_.signs.bits == 1)
            for (uint32_t k = 0; k < 8; ++k)
                put(format_.signs, 8 * (octets * group + i) + k, choice.signs[i] >> k, block);
    }
}

uint32_t Encoder::nearest_scale(float factor) const {
    const auto nearer = [&](float a, float b) {
        return std::abs(a - factor) < std::abs(b - factor);
    };
    return uint32_t(std::min_element(factors_.begin(), factors_.end(), nearer) - factors_.begin());
}

// Makes targets positive and notes their signs. Where only an even number may be negated, the
// smallest keeps the wrong one.
void Encoder::negate(float* targets, Choice& choice) const {
    for (uint32_t octet = 0; octet < format_.group / 8; ++octet, targets += 8) {
        uint32_t& signs = choice.signs[octet];
        for (uint32_t k = 0; k < 8; ++k) signs |= uint32_t(targets[k] < 0) << k;
        const auto smaller = [](float a, float b) { return std::abs(a) < std::abs(b); };
        if (format_.signs.bits == 7 && std::popcount(signs) % 2 == 1)
            signs ^= 1u << (std::min_element(targets, targets + 8, smaller) - targets);
        for (uint32_t k = 0; k < 8; ++k) targets[k] = gguf::negate_if(signs >> k, targets[k]);
    }
}

Encoder::Choice Encoder::attempt(const float* x, uint32_t variant, float scale) const {
    Choice choice{.variant = variant};
    if (scale == 0) {
        choice.error = std::inner_product(x, x + format_.group, x, 0.0);
        return choice;
    }
    float targets[32];
    for (uint32_t i = 0; i < format_.group; ++i) targets[i] = x[i] / scale;
    if (format_.signs.bits > 0) negate(targets, choice);
    double error = 0, product = 0, power = 0;
    for (uint32_t i = 0; i < format_.group; ++i) {
        uint32_t& code = choice.codes[i / format_.unit];
        if (i % format_.unit == 0) code = points_[variant].nearest(targets + i);
        const double point = points_[variant][code][i % format_.unit], off = point - targets[i];
        error += off * off;
        product += point * targets[i];
        power += point * point;
    }
    choice.error = error * scale * scale;
    choice.fitted = power == 0 ? 0 : float(scale * product / power);
    return choice;
}

// Scales around the one that puts the largest element on the largest level, then twice what fits
// the codes of the best.
Encoder::Choice Encoder::fitted(const float* x) const {
    Choice best;
    const auto keep = [&best](const Choice& choice) {
        if (choice.error < best.error) best = choice;
    };
    const float largest = std::abs(extreme({x, format_.group}));
    const bool positive = factors_.size() > 1 && *std::ranges::min_element(factors_) >= 0;
    const std::vector<float> signs = positive ? std::vector{1.f} : std::vector{1.f, -1.f};
    for (uint32_t variant = 0; variant < points_.size(); ++variant) {
        const float scale = largest / std::abs(points_[variant][0][points_[variant].extreme()]);
        for (float multiple : {0.5f, 0.6f, 0.72f, 0.86f, 1.f, 1.2f, 1.44f, 1.7f})
            for (float sign : signs) keep(attempt(x, variant, sign * multiple * scale));
    }
    for (int i = 0; i < 2; ++i) keep(attempt(x, best.variant, best.fitted));
    return best;
}

// Of the scales there are.
Encoder::Choice Encoder::stored(const float* x, float base, float fitted) const {
    Choice best;
    for (uint32_t variant = 0; variant < points_.size(); ++variant) {
        const uint32_t scale = nearest_scale(fitted / base);
        Choice choice = attempt(x, variant, base * factors_[scale]);
        choice.scale = scale;
        if (choice.error < best.error) best = choice;
    }
    return best;
}

void Encoder::encode(std::span<const float> values, std::byte* row) const {
    auto* bytes = reinterpret_cast<uint8_t*>(row);
    std::fill_n(bytes, gguf::row_bytes(format_.dtype, int64_t(values.size())), uint8_t(0));
    std::vector<float> x(values.size()), scales;
    for (size_t i = 0; i < values.size(); ++i) {
        const size_t begin = i / traits_.block * traits_.block;
        x[i] = values[begin + place(format_.order, uint32_t(i - begin))];
    }
    for (size_t i = 0; i < x.size(); i += format_.group)
        scales.push_back(fitted(x.data() + i).fitted);
    const float highest = *std::max_element(factors_.begin(), factors_.end());
    // A base belongs to a block or, in a header, to the row.
    const size_t groups = traits_.block / format_.group;
    for (size_t i = 0; i < scales.size(); i += groups) {
        const std::span all(scales), own = all.subspan(i, groups);
        const float most = extreme(traits_.row_header > 0 ? all : own) / highest;
        if (most == 0) continue;
        uint8_t* block = bytes + traits_.row_header + i / groups * traits_.block_bytes;
        const float base = put_base(most, bytes, block);
        for (uint32_t k = 0; k < groups; ++k)
            put_group(k, stored(x.data() + (i + k) * format_.group, base, own[k]), block);
    }
}

}  // namespace tandem::test
