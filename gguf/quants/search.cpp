#include "gguf/quants/search.h"

#include <algorithm>
#include <cmath>

#include "gguf/quants/rounding.h"

namespace tandem::gguf {

namespace {

constexpr size_t largest_group = 32;
constexpr int descents = 5;

// Sums of one choice of codes l: p = sum w x l, q = sum w l l. The best scale is p / q, and the
// error falls with p p / q.
struct Moments {
    float p = 0;
    float q = 0;
};

float affine_error(std::span<const float> x, const float* weights, const uint8_t* codes,
                   float scale, float minimum, bool absolute) {
    float error = 0;
    for (size_t i = 0; i < x.size(); i++) {
        const float difference = scale * float(codes[i]) + minimum - x[i];
        error += weights[i] * (absolute ? std::fabs(difference) : difference * difference);
    }
    return error;
}

Moments moments(std::span<const float> x, const float* weights, const int* codes) {
    Moments sums;
    for (size_t i = 0; i < x.size(); i++) {
        const auto l = float(codes[i]);
        sums.p += weights[i] * x[i] * l;
        sums.q += weights[i] * l * l;
    }
    return sums;
}

float scale_of(const Moments& sums) { return sums.q > 0 ? sums.p / sums.q : 0; }

// Tries other codes for one element after another, the rest staying as they are.
void descend(std::span<const float> x, const float* weights, int low, int high, Moments& sums,
             int* codes) {
    for (int pass = 0; pass < descents; pass++) {
        bool changed = false;
        for (size_t i = 0; i < x.size(); i++) {
            const float w = weights[i];
            const auto old = float(codes[i]);
            const Moments rest = {sums.p - w * x[i] * old, sums.q - w * old * old};
            if (!(rest.p > 0 && (rest.q > 0 || low < 0))) continue;
            const int code = round_to_even(x[i] * rest.q / rest.p, low, high);
            if (code == codes[i]) continue;
            const auto fresh = float(code);
            const Moments moved = {rest.p + w * x[i] * fresh, rest.q + w * fresh * fresh};
            if (!(moved.q > 0 && moved.p * moved.p * sums.q > sums.p * sums.p * moved.q)) continue;
            codes[i] = code;
            sums = moved;
            changed = true;
        }
        if (!changed) break;
    }
}

}  // namespace

float extreme(std::span<const float> x) {
    float best = 0;
    for (float value : x) {
        if (std::fabs(value) > std::fabs(best)) best = value;
    }
    return best;
}

float sum_of_squares(std::span<const float> x) {
    float sum = 0;
    for (float value : x) sum += value * value;
    return sum;
}

bool any_positive(std::span<const float> x) {
    return std::ranges::any_of(x, [](float value) { return value > 0; });
}

void weigh(std::span<const float> x, const float* importance, float variance, float* weights) {
    const bool important = importance && any_positive({importance, x.size()});
    for (size_t i = 0; i < x.size(); i++) {
        const float square = x[i] * x[i];
        weights[i] = important ? importance[i] * std::sqrt(variance + square) : square;
    }
}

AffineFit fit_affine(std::span<const float> x, const float* weights, const AffineSearch& search,
                     uint8_t* codes) {
    float minimum = 0;
    float maximum = x[0];
    float sum_w = 0;
    float sum_x = 0;
    for (size_t i = 0; i < x.size(); i++) {
        minimum = std::min(minimum, x[i]);
        maximum = std::max(maximum, x[i]);
        sum_w += weights[i];
        sum_x += weights[i] * x[i];
    }
    std::fill_n(codes, x.size(), uint8_t(0));
    if (!(maximum > minimum)) return {.scale = 0, .minimum = -minimum};

    const auto encode = [&](float inverse, uint8_t* to) {
        for (size_t i = 0; i < x.size(); i++) {
            to[i] = uint8_t(round_to_even(inverse * (x[i] - minimum), 0, search.most));
        }
    };
    const float inverse = float(search.most) / (maximum - minimum);
    float scale = 1 / inverse;
    encode(inverse, codes);
    float best = affine_error(x, weights, codes, scale, minimum, search.absolute);

    for (int k = 0; k <= search.steps; k++) {
        uint8_t trial[largest_group];
        encode((search.first + search.step * float(k) + float(search.most)) / (maximum - minimum),
               trial);
        float sum_l = 0;
        float sum_ll = 0;
        float sum_lx = 0;
        for (size_t i = 0; i < x.size(); i++) {
            const auto l = float(trial[i]);
            sum_l += weights[i] * l;
            sum_ll += weights[i] * l * l;
            sum_lx += weights[i] * l * x[i];
        }
        const float determinant = sum_w * sum_ll - sum_l * sum_l;
        if (!(determinant > 0)) continue;
        float trial_scale = (sum_w * sum_lx - sum_x * sum_l) / determinant;
        float trial_minimum = (sum_ll * sum_x - sum_l * sum_lx) / determinant;
        if (trial_minimum > 0) {
            trial_minimum = 0;
            trial_scale = sum_lx / sum_ll;
        }
        const float error =
            affine_error(x, weights, trial, trial_scale, trial_minimum, search.absolute);
        if (!(error < best)) continue;
        best = error;
        scale = trial_scale;
        minimum = trial_minimum;  // from here on the trials start at the new minimum, too
        std::copy_n(trial, x.size(), codes);
    }
    return {.scale = scale, .minimum = -minimum};
}

float fit_symmetric(std::span<const float> x, const float* weights, int half, uint8_t* codes) {
    const float most = extreme(x);
    std::fill_n(codes, x.size(), uint8_t(0));
    if (!(std::fabs(most) >= negligible)) return 0;

    float scale = 0;
    float best = 0;
    const auto attempt = [&](float inverse, bool first) {
        int trial[largest_group];
        for (size_t i = 0; i < x.size(); i++) {
            trial[i] = round_to_even(inverse * x[i], -half, half - 1);
        }
        const Moments sums = moments(x, weights, trial);
        if (!first && !(sums.q > 0 && sums.p * sums.p > best * sums.q)) return;
        scale = scale_of(sums);
        best = scale * sums.p;
        for (size_t i = 0; i < x.size(); i++) codes[i] = uint8_t(trial[i] + half);
    };
    attempt(-float(half) / most, true);
    for (int k = -9; k <= 9; k++) {
        if (k != 0) attempt(-(float(half) + 0.1f * float(k)) / most, false);
    }
    return scale;
}

float descend_symmetric(std::span<const float> x, const float* weights, int half, uint8_t* codes) {
    const float most = extreme(x);
    std::fill_n(codes, x.size(), uint8_t(0));
    if (!(std::fabs(most) >= negligible)) return 0;

    int trial[largest_group];
    const float inverse = -float(half) / most;
    for (size_t i = 0; i < x.size(); i++) {
        trial[i] = round_to_even(inverse * x[i], -half, half - 1);
    }
    Moments sums = moments(x, weights, trial);
    descend(x, weights, -half, half - 1, sums, trial);
    for (size_t i = 0; i < x.size(); i++) codes[i] = uint8_t(trial[i] + half);
    return scale_of(sums);
}

float fit_positive(std::span<const float> x, const float* weights, int most, uint8_t* codes) {
    const float largest = *std::max_element(x.begin(), x.end());
    std::fill_n(codes, x.size(), uint8_t(0));
    if (!(largest >= negligible)) return 0;

    const auto error_of = [&](float inverse) {
        const float scale = 1 / inverse;
        float error = 0;
        for (size_t i = 0; i < x.size(); i++) {
            const float difference = x[i] - scale * float(round_to_even(inverse * x[i], 0, most));
            error += weights[i] * difference * difference;
        }
        return error;
    };
    float inverse = float(most) / largest;
    float best = error_of(inverse);
    for (int k = -4; k <= 4; k++) {
        if (k == 0) continue;
        const float trial = (0.1f * float(k) + float(most)) / largest;
        const float error = error_of(trial);
        if (!(error < best)) continue;
        best = error;
        inverse = trial;
    }

    int trial[largest_group];
    for (size_t i = 0; i < x.size(); i++) trial[i] = round_to_even(inverse * x[i], 0, most);
    Moments sums = moments(x, weights, trial);
    descend(x, weights, 0, most, sums, trial);
    for (size_t i = 0; i < x.size(); i++) codes[i] = uint8_t(trial[i]);
    return scale_of(sums);
}

}  // namespace tandem::gguf
