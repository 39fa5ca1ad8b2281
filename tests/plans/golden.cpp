// Golden plans: every model x mode x number of devices, from metadata alone.
//
// Updated by running the program with --update; what changed is reviewed in the diff.
#include "golden.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "data.h"
#include "models.h"
#include "parallel/plan_print.h"
#include "parallel/project.h"

namespace tandem::test {

using namespace parallel;

std::string plans_of(const std::string& model) {
    std::string text = "The plans of " + model + ", context 4096, steps of up to 512 tokens.\n";
    with_model(model, [&](const gguf::File& file) {
        const auto add = [&](const std::string& what, size_t devices, const PlanOptions& options) {
            Planned planned = plan_model(file, first_devices(devices), options);
            std::vector<Programs> programs;
            for (size_t i = 0; i < devices; ++i)
                programs.push_back(make_programs(planned.placed, int(i), 512, {}, nullptr));
            text += "\n== -sm " + options.mode + ", " + what + "\n";
            text += to_string(
                report_plan(*planned.graph, planned.plan, planned.placed, planned.table, programs));
        };
        std::vector<std::string> modes{"none", "layer", "tensor", "graph"};
        std::vector<size_t> counts{1, 2, 3, 8};
        if (is_published(model)) modes = {"layer", "tensor", "graph"}, counts = {2, 4, 8};
        for (const std::string& mode : modes)
            for (size_t devices : counts)
                add(std::to_string(devices) + (devices == 1 ? " device" : " devices"), devices,
                    {.mode = mode, .bucket = 512, .context = 4096});
        const bool mixture =
            std::ranges::any_of(file.tensors(), [](const gguf::TensorInfo& tensor) {
                return tensor.name.find("_exps.") != tensor.name.npos;
            });
        if (!mixture) return;
        for (const std::string mode : {"layer", "graph"})
            add("5 devices, experts on the last", 5,
                {.mode = mode,
                 .bucket = 512,
                 .context = 4096,
                 .homes = {{.pattern = "_exps\\.", .group = {4}}},
                 .home_devices = 1});
    });
    return text;
}

std::filesystem::path golden_path(const std::string& model) {
    return test::data("../plans/" + model + ".txt");
}

void update_golden_plans() {
    for (const char* model : model_names())
        std::ofstream(golden_path(model), std::ios::binary) << plans_of(model);
}

namespace {

class GoldenPlans : public ::testing::TestWithParam<const char*> {};

// The first line that differs says more than two long texts.
TEST_P(GoldenPlans, are_unchanged) {
    std::ifstream in(golden_path(GetParam()));
    ASSERT_TRUE(in) << "no " << golden_path(GetParam()) << ": run test_plans --update";
    std::istringstream now(plans_of(GetParam()));
    std::string section, has, expected;
    while (std::getline(now, has)) {
        if (has.compare(0, 2, "==") == 0) section = has;
        ASSERT_TRUE(std::getline(in, expected)) << "more than the golden text: " << has;
        ASSERT_EQ(has, expected) << section << "\nrun test_plans --update to take it over";
    }
    EXPECT_FALSE(std::getline(in, expected)) << "less than the golden text: " << expected;
}

INSTANTIATE_TEST_SUITE_P(Models, GoldenPlans, ::testing::ValuesIn(model_names()),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace
}  // namespace tandem::test
