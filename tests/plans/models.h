// The models that plans are made of here, by name; their metadata is all that is read.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "gguf/file.h"
#include "parallel/device_table.h"
#include "parallel/policy.h"
#include "planned.h"

namespace tandem::test {

// Fixtures of tests/data/fixtures and the checkpoints.
std::span<const char* const> model_names();
// True for a checkpoint of which only the directory is written, false for a fixture.
bool is_published(const std::string& name);
// Opens a model's metadata while `use` runs.
void with_model(const std::string& name, const std::function<void(const gguf::File&)>& use);

// The first devices of tests/data/devices/eight.json.
parallel::DeviceTable first_devices(size_t count);

Planned plan_model(const gguf::File& file, parallel::DeviceTable table,
                   const parallel::PlanOptions& options);

}  // namespace tandem::test
