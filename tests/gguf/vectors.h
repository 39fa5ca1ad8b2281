// The test vectors of tests/data/vectors: JSON files, bytes as hex.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "data.h"
#include "gguf/error.h"

namespace tandem::test {

inline nlohmann::json vectors(const std::string& name) {
    std::ifstream file(test::data("vectors/" + name));
    EXPECT_TRUE(file) << name;
    return nlohmann::json::parse(file);
}

inline std::vector<std::byte> bytes_of_hex(const std::string& hex) {
    std::vector<std::byte> bytes;
    for (size_t i = 0; i < hex.size(); i += 2) {
        bytes.push_back(std::byte(std::stoi(hex.substr(i, 2), nullptr, 16)));
    }
    return bytes;
}

inline std::string hex_of_bytes(std::span<const std::byte> bytes) {
    std::string hex;
    for (std::byte byte : bytes) {
        hex += "0123456789abcdef"[int(byte) >> 4];
        hex += "0123456789abcdef"[int(byte) & 15];
    }
    return hex;
}

inline std::vector<float> floats(const nlohmann::json& json) {
    std::vector<float> values;
    for (const auto& value : json) values.push_back(float(value.get<double>()));
    return values;
}

// A bit pattern, most significant digit first.
inline uint32_t bits_of_hex(const std::string& hex) {
    return uint32_t(std::stoul(hex, nullptr, 16));
}

// What the function throws: the text of its Error, or nothing where it returns.
template <class Function>
std::string error_of(const Function& function) {
    try {
        function();
    } catch (const tandem::Error& error) {
        return error.what();
    }
    return "";
}

}  // namespace tandem::test
