#include "cli/synth/random_rows.h"

#include <cmath>
#include <cstring>
#include <numbers>
#include <string>

#include "gguf/error.h"
#include "gguf/half.h"
#include "gguf/quants/fp4.h"

namespace tandem::cli {

using gguf::DType;

namespace {

enum class Kind {
    Half,    // f16
    Single,  // f32
    Spread,  // f16 in the high nibbles of four words
    E8M0,    // 2^(e - 128)
    E4M3     // unsigned, one for each group
};

// Where a type keeps what its codes are multiplied by: all other bits may be random.
struct Fields {
    DType dtype;
    Kind kind = Kind::Half;
    int offset = 0;       // in the block
    bool in_row = false;  // one for the row, in its header
    // A second f16, which is `balance` times the first so that the mean is 0.
    int offset2 = -1;
    double balance = 0;
};

constexpr Fields table[] = {
    {DType::Q4_0},
    {DType::Q4_1, Kind::Half, 0, false, 2, -7.5},
    {DType::Q5_0},
    {DType::Q5_1, Kind::Half, 0, false, 2, -15.5},
    {DType::Q6_0},
    {DType::Q8_0},
    {DType::Q2_K, Kind::Half, 80, false, 82, 1.5},
    {DType::Q3_K, Kind::Half, 108},
    {DType::Q4_K, Kind::Half, 0, false, 2, 7.5},
    {DType::Q5_K, Kind::Half, 0, false, 2, 15.5},
    {DType::Q6_K, Kind::Half, 208},
    {DType::IQ1_S},
    {DType::IQ1_M, Kind::Spread, 48},
    {DType::IQ2_XXS},
    {DType::IQ2_XS},
    {DType::IQ2_S},
    {DType::IQ3_XXS},
    {DType::IQ3_S},
    {DType::IQ4_NL},
    {DType::IQ4_XS},
    {DType::TQ1_0, Kind::Half, 52},
    {DType::TQ2_0, Kind::Half, 64},
    {DType::Q1_0},
    {DType::Q2_0},
    {DType::MXFP4, Kind::E8M0},
    {DType::NVFP4, Kind::E4M3},
    {DType::IQ2_K},
    {DType::IQ3_K},
    {DType::IQ4_K},
    {DType::IQ5_K},
    {DType::IQ6_K},
    {DType::IQ2_KS, Kind::Half, 0, true},
    {DType::IQ2_KL, Kind::Half, 0, true},
    {DType::IQ3_KS, Kind::Half, 0, true},
    {DType::IQ4_KS, Kind::Single, 0, true},
    {DType::IQ4_KSS, Kind::Single, 0, true},
    {DType::IQ5_KS, Kind::Single, 0, true},
    {DType::IQ1_KT, Kind::Single, 0, true},
    {DType::IQ2_KT, Kind::Single, 0, true},
    {DType::IQ3_KT, Kind::Single, 0, true},
    {DType::IQ4_KT, Kind::Single, 0, true},
};

constexpr DType plain_types[] = {DType::F32, DType::F16, DType::BF16, DType::F64};
constexpr int nvfp4_groups = 4;
constexpr uint64_t golden = 0x9E3779B97F4A7C15;  // 2^64 / the golden ratio

const Fields* find_fields(DType dtype) {
    for (const Fields& fields : table)
        if (fields.dtype == dtype) return &fields;
    return nullptr;
}

bool is_plain_type(DType dtype) {
    for (DType plain : plain_types)
        if (plain == dtype) return true;
    return false;
}

double uniform(uint64_t bits) { return (double(bits >> 11) + 0.5) * 0x1p-53; }

template <class Number>
void put(std::byte* at, Number number) {
    std::memcpy(at, &number, sizeof number);
}

void fill_random(uint64_t seed, std::span<std::byte> bytes) {
    size_t i = 0;
    for (; i + 8 <= bytes.size(); i += 8) put(&bytes[i], mix(seed += golden));
    uint64_t last = mix(seed + golden);
    if (i < bytes.size()) std::memcpy(&bytes[i], &last, bytes.size() - i);
}

// Of two neighbours on a coarse grid of scales.
double chance_of_upper(double wanted, double lower, double upper) {
    return (wanted * wanted - lower * lower) / (upper * upper - lower * lower);
}

RandomRows::Scale scale_of(Kind kind, double value) {
    RandomRows::Scale scale{.value = value};
    if (kind == Kind::E8M0) {
        const double exponent = std::floor(std::log2(value)), lower = std::exp2(exponent);
        scale.code = uint8_t(128 + int(exponent));
        scale.chance = chance_of_upper(value, lower, 2 * lower);
    } else if (kind == Kind::E4M3) {
        uint8_t code = 1;
        while (code < 0x7d && double(gguf::nvfp4_scale(code + 1u)) <= value) ++code;
        scale.code = code;
        scale.chance =
            chance_of_upper(value, gguf::nvfp4_scale(code), gguf::nvfp4_scale(code + 1u));
    }
    return scale;
}

void put_scale(const Fields& fields, const RandomRows::Scale& scale, uint64_t random,
               std::byte* block) {
    std::byte* at = block + fields.offset;
    // Codes that are not centred are made so by scales of both signs.
    const bool negative = fields.offset2 < 0 && (random & 1) != 0;
    const auto value = float(negative ? -scale.value : scale.value);
    auto coarse = [&](uint64_t bits) {
        return uint8_t(scale.code + int(uniform(bits) < scale.chance));
    };
    switch (fields.kind) {
        case Kind::Half:
            put(at, gguf::f32_to_f16(value));
            if (fields.offset2 >= 0)
                put(block + fields.offset2, gguf::f32_to_f16(float(fields.balance) * value));
            break;
        case Kind::Single:
            put(at, value);
            break;
        case Kind::Spread:
            for (int i = 0; i < 4; ++i) {
                std::byte& high = at[2 * i + 1];
                const int nibble = (gguf::f32_to_f16(value) >> (4 * i)) & 15;
                high = (high & std::byte(15)) | std::byte(nibble << 4);
            }
            break;
        case Kind::E8M0:
            put(at, coarse(random));
            break;
        case Kind::E4M3:
            for (int i = 0; i < nvfp4_groups; ++i) put(at + i, coarse(mix(random + unsigned(i))));
            break;
    }
}

double root_mean_square(std::span<const float> values) {
    double sum = 0;
    for (float value : values) sum += double(value) * value;
    return std::sqrt(sum / double(values.size()));
}

std::string known_types() {
    std::string names;
    for (const gguf::DTypeTraits& type : gguf::dtypes())
        if (RandomRows::exists(type.dtype))
            names += (names.empty() ? "" : ", ") + std::string(type.name);
    return names;
}

}  // namespace

uint64_t mix(uint64_t number) {
    number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9;
    number = (number ^ (number >> 27)) * 0x94D049BB133111EB;
    return number ^ (number >> 31);
}

uint64_t hash(std::string_view text) {
    uint64_t sum = text.size();
    for (char c : text) sum = mix(sum + golden + uint8_t(c));
    return sum;
}

std::vector<float> normals(uint64_t seed, size_t count) {
    std::vector<float> values;
    for (; values.size() < count; seed += 2 * golden) {  // Box and Muller, 1958
        const double radius = std::sqrt(-2 * std::log(uniform(mix(seed + golden))));
        const double angle = 2 * std::numbers::pi * uniform(mix(seed + 2 * golden));
        values.push_back(float(radius * std::cos(angle)));
        values.push_back(float(radius * std::sin(angle)));
    }
    values.resize(count);
    return values;
}

bool RandomRows::exists(DType dtype) {
    return is_plain_type(dtype) || find_fields(dtype) != nullptr;
}

RandomRows::RandomRows(DType dtype, int64_t columns, bool from_bf16)
    : dtype_(dtype), row_bytes_(gguf::row_bytes(dtype, columns)) {
    if (!exists(dtype))
        throw Error("no random weights of type " + std::string(gguf::name(dtype)) +
                    ": choose one of " + known_types());
    const double deviation = 1 / std::sqrt(double(columns));
    if (is_plain_type(dtype)) {
        const size_t bytes = gguf::traits(dtype).block_bytes;
        for (float value : normals(hash("plain"), 4096)) {
            plain_.resize(plain_.size() + bytes);
            std::byte* at = plain_.data() + plain_.size() - bytes;
            double scaled = value * deviation;
            if (from_bf16) scaled = gguf::bf16_to_f32(gguf::f32_to_bf16(float(scaled)));
            if (dtype == DType::F64)
                put(at, scaled);
            else
                gguf::encode_row(dtype, {{float(scaled)}}, at);
        }
        return;
    }
    // What random codes decode to when the scale is 1.
    const Kind kind = find_fields(dtype)->kind;
    scale_ = scale_of(kind, 1);
    std::vector<float> values(size_t(gguf::traits(dtype).block) * 256);
    std::vector<std::byte> row(size_t(gguf::row_bytes(dtype, int64_t(values.size()))));
    fill(hash("calibrate"), row);
    gguf::decode_row(dtype, row.data(), values);
    scale_ = scale_of(kind, deviation / root_mean_square(values));
}

void RandomRows::fill(uint64_t seed, std::span<std::byte> row) const {
    if (!plain_.empty()) return fill_plain(seed, row);
    fill_random(seed, row);
    set_scales(seed, row);
}

void RandomRows::fill_plain(uint64_t seed, std::span<std::byte> row) const {
    const size_t bytes = gguf::traits(dtype_).block_bytes;
    uint64_t bits = 0;
    for (size_t i = 0; i * bytes < row.size(); ++i, bits >>= 12) {
        if (i % 5 == 0) bits = mix(seed += golden);
        std::memcpy(&row[i * bytes], &plain_[(bits & 4095) * bytes], bytes);
    }
}

void RandomRows::set_scales(uint64_t seed, std::span<std::byte> row) const {
    const Fields& fields = *find_fields(dtype_);
    const gguf::DTypeTraits& type = gguf::traits(dtype_);
    if (fields.in_row) return put_scale(fields, scale_, mix(seed), row.data());
    uint64_t bits = mix(seed);
    for (size_t at = type.row_header; at < row.size(); at += type.block_bytes, bits += golden)
        put_scale(fields, scale_, bits ^ (bits >> 32), &row[at]);
}

}  // namespace tandem::cli
