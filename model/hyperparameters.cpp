#include "model/hyperparameters.h"

#include <cmath>

#include "gguf/error.h"

namespace tandem::model {

Hyperparameters::Hyperparameters(const gguf::File& file) : file_(file) {
    auto name = file.metadata().text("general.architecture");
    if (!name)
        throw Error(file.path() +
                    ": no key general.architecture: this is not a model (an adapter or a "
                    "vocabulary, perhaps)");
    architecture_ = *name;
}

std::string Hyperparameters::full(std::string_view key) const {
    return architecture_ + "." + std::string(key);
}

void Hyperparameters::missing(std::string_view key) const {
    throw Error(file_.path() + ": the required key " + full(key) +
                " is missing: the file was made by an incomplete or very old converter");
}

int64_t Hyperparameters::integer(std::string_view key) const {
    auto value = file_.metadata().integer(full(key));
    if (!value) missing(key);
    return *value;
}

int64_t Hyperparameters::integer(std::string_view key, int64_t fallback) const {
    return file_.metadata().integer(full(key)).value_or(fallback);
}

double Hyperparameters::real(std::string_view key) const {
    auto value = file_.metadata().real(full(key));
    if (!value) missing(key);
    return *value;
}

double Hyperparameters::finite(std::string_view key, double fallback) const {
    const double value = file_.metadata().real(full(key)).value_or(fallback);
    if (!std::isfinite(value))
        throw Error(file_.path() + ": key " + full(key) + " is " + std::to_string(value) +
                    ", expected a finite number");
    return value;
}

double Hyperparameters::positive(std::string_view key, double fallback) const {
    const double value = file_.metadata().real(full(key)).value_or(fallback);
    if (!(value > 0) || !std::isfinite(value))
        throw Error(file_.path() + ": key " + full(key) + " is " + std::to_string(value) +
                    ", expected a number above 0");
    return value;
}

bool Hyperparameters::boolean(std::string_view key, bool fallback) const {
    return file_.metadata().boolean(full(key)).value_or(fallback);
}

std::string Hyperparameters::text(std::string_view key, std::string_view fallback) const {
    return file_.metadata().text(full(key)).value_or(std::string(fallback));
}

int64_t Hyperparameters::of_layer(std::string_view key, int layer,
                                  std::optional<int64_t> fallback) const {
    auto values = file_.metadata().integers(full(key));
    if (values.empty()) {
        if (!fallback) missing(key);
        return *fallback;
    }
    if (values.size() == 1) return values[0];
    int64_t blocks = integer("block_count");
    if (int64_t(values.size()) != blocks)
        throw Error(file_.path() + ": key " + full(key) + " has " + std::to_string(values.size()) +
                    " values, expected one or " + std::to_string(blocks) + " (one per block)");
    return values[size_t(layer)];
}

std::vector<int64_t> Hyperparameters::list(std::string_view key) const {
    return file_.metadata().integers(full(key));
}

int64_t Hyperparameters::require_extent(std::string_view key, int64_t value) const {
    if (value < 1 || value > largest_extent)
        throw Error(file_.path() + ": key " + full(key) + " is " + std::to_string(value) +
                    ", expected 1 to " + std::to_string(largest_extent));
    return value;
}

int64_t Hyperparameters::extent(std::string_view key, std::optional<int64_t> fallback) const {
    return require_extent(key, fallback ? integer(key, *fallback) : integer(key));
}

int64_t Hyperparameters::extent_of_layer(std::string_view key, int layer,
                                         std::optional<int64_t> fallback) const {
    return require_extent(key, of_layer(key, layer, fallback));
}

}  // namespace tandem::model
