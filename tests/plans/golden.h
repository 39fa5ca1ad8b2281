// The plans of a model as one text, which is kept in tests/plans and reviewed as a diff.
#pragma once

#include <filesystem>
#include <string>

namespace tandem::test {

// Every mode on 1, 2, 3 and 8 devices; of mixtures also on four and a fifth that has the experts.
std::string plans_of(const std::string& model);
std::filesystem::path golden_path(const std::string& model);
// Writes what plans_of gives into the tree, for all models.
void update_golden_plans();

}  // namespace tandem::test
