// What the hardware allows: streaming reads of its memory, and multiply-adds in f32 and on matrix
// units.
#include "kernels/measured_memory.h"
#include "kernels/vulkan/device.h"
#include "kernels/vulkan/matrix_units.h"
#include "kernels/vulkan/run_once.h"

namespace tandem::kernels::vulkan {

namespace {

struct LimitParameters {
    Address from, to;
    uint32_t vectors, rounds;
};

struct UnitsParameters {
    Address to;
    uint32_t rounds;
};

constexpr int repetitions = 5;
// As many times memory is read in one go, so that the way to the device does not count.
constexpr int passes = 8;

}  // namespace

Limits VulkanDevice::measure_limits() {
    return guarded(description_.name, "measuring", [&] {
        // More than caches hold on a GPU; enough for what lavapipe reaches on the CPU.
        const int64_t wanted = int64_t(facts_.adapter.software ? 64 : 1024) << 20;
        const int64_t bytes =
            measured_bytes(std::min(wanted, memory_.largest()), description_.free_bytes);
        const uint32_t group = 128, groups = facts_.adapter.software ? 64 : 4096;
        const uint32_t rounds = facts_.adapter.software ? 200 : 4096;
        const Block block = memory_.take(bytes, Reach::Device);
        upload_.clear(block);
        upload_.finish();
        auto seconds_of = [&](const Dispatch& dispatch, int times) {
            return run_once(device_, queue_, commands_, [&](const auto& commands) {
                pipelines_.bind(commands, dispatch);
                for (int i = 0; i < times; ++i) commands.dispatch(groups, 1, 1);
            });
        };
        const Parameters parameters(
            LimitParameters{block.address, block.address, uint32_t(bytes / 16), rounds});
        const Dispatch reads{"limit", {group, true}, parameters};
        const Dispatch products{"limit", {group, false}, parameters};
        auto best_rate = [&](const Dispatch& dispatch, int times, double amount) {
            double best = 0;
            for (int i = 0; i < repetitions; ++i)
                best = std::max(best, amount * times / seconds_of(dispatch, times));
            return best;
        };
        Limits limits{.bytes_per_second = best_rate(reads, passes, double(bytes)),
                      .multiply_adds_per_second =
                          best_rate(products, 1, double(groups) * group * rounds * 64)};
        if (const MatrixUnits& units = facts_.features.matrix_units) {
            const Site site{.weights = weights_,
                            .states = states_,
                            .vectors = vectors_,
                            .features = facts_.features};
            const MatrixTile tile = matrix_tile(units, 128, 128, 1);
            const Dispatch fragments{of_units("limit_units", units), constants(tile, site),
                                     Parameters(UnitsParameters{block.address, rounds / 8})};
            limits.float_multiply_adds_per_second = limits.multiply_adds_per_second;
            limits.multiply_adds_per_second =
                best_rate(fragments, 1,
                          double(groups) * double(rounds / 8) * double(tile.rows * tile.tokens) *
                              units.depth);
        }
        return limits;
    });
}

}  // namespace tandem::kernels::vulkan
