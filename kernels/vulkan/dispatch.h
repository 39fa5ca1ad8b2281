// What a Vulkan kernel makes of a launch: dispatches of shaders, as data.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace tandem::kernels::vulkan {

inline constexpr uint32_t most_groups = 65535;  // of one dimension, on every driver

// A live count that an extent is multiplied by.
enum class Live { No, Tokens, Rows };

// A number of workgroups: units times the live count, `per_group` of them in each, and all that so
// many times.
struct Extent {
    int64_t units = 1, per_group = 1;
    Live live = Live::No;
    int64_t times = 1;

    int64_t groups(int64_t tokens, int64_t rows) const {
        int64_t count = live == Live::No ? 1 : live == Live::Tokens ? tokens : rows;
        return (units * count + per_group - 1) / per_group * times;
    }
};

// A shader's parameters, which the command buffer holds. Every driver has room for 128 bytes.
class Parameters {
  public:
    static constexpr size_t capacity = 128;

    Parameters() = default;
    template <typename T>
    explicit Parameters(const T& block) : bytes(sizeof(T)) {
        static_assert(sizeof(T) <= capacity);
        std::memcpy(data.data(), &block, sizeof(T));
    }

    std::array<std::byte, capacity> data = {};
    size_t bytes = 0;
};

struct Dispatch {
    std::string shader;               // "norm", "linear_vector.q4_k"
    std::vector<uint32_t> constants;  // specialization constants; the first is the workgroup's size
    Parameters parameters;
    // Groups in x, which may be more than most_groups, are numbered through x and z:
    // group_number() in step.glsl.
    Extent x, y;
    // False where it may run beside the dispatch before it in the same launch.
    bool after_previous = true;
};

}  // namespace tandem::kernels::vulkan
