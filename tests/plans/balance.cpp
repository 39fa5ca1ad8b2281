// Published checkpoints on equal devices: everybody gets as much.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "checkpoints.h"
#include "data.h"
#include "models.h"

namespace tandem::test {
namespace {

using namespace parallel;

class Balance : public ::testing::TestWithParam<std::string> {};

TEST_P(Balance, of_weights) {
    with_model(GetParam(), [&](const gguf::File& file) {
        for (const char* mode : {"tensor", "graph"})
            for (size_t devices : {2, 4, 8}) {
                PlanOptions options{.mode = mode, .bucket = 512, .context = 4096};
                options.ratio.assign(devices, 1.0);
                Planned planned = plan_model(file, equal_devices(devices), options);
                std::vector<int64_t> bytes =
                    weight_bytes(*planned.graph, planned.plan, planned.table);
                double mean = double(std::accumulate(bytes.begin(), bytes.end(), int64_t(0))) /
                              double(devices);
                double largest = double(*std::max_element(bytes.begin(), bytes.end()));
                EXPECT_LE(largest, 1.01 * mean) << mode << " on " << devices << ": the largest has "
                                                << largest / mean << " times the mean";
                RecordProperty(std::string(mode) + std::to_string(devices),
                               std::to_string(largest / mean));
            }
    });
}

INSTANTIATE_TEST_SUITE_P(Checkpoints, Balance, ::testing::ValuesIn(checkpoint_names()),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace
}  // namespace tandem::test
