// Predictions kept in a file, and how far others are from them.
#include "cli/perplexity/divergence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>

#include "cli/synth/random_rows.h"
#include "gguf/vectors.h"
#include "tools/softmax.h"
#include "tools/tiny.h"

namespace tandem::cli {
namespace {

using test::error_of;
using test::log_probabilities;
using Floats = std::vector<float>;

std::string path_in(const test::Folder& folder) { return (folder / "base").string(); }

void write(const std::string& path, int64_t length, const std::vector<int32_t>& tokens,
           const std::vector<Floats>& predictions) {
    BaseWriter writer(path, nullptr);
    writer.begin(length, int64_t(predictions[0].size()), tokens);
    for (const Floats& logits : predictions) writer.add(logits);
    writer.finish();
}

std::string bytes_in(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

template <typename Value>
Value value_at(const std::string& bytes, size_t at) {
    Value value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

TEST(BaseFile, has_the_layout_of_llama_perplexity) {
    const test::Folder folder;
    const std::string path = path_in(folder);
    // Three tokens, of which the last is 16 below the best or lower.
    write(path, 3, {7, 8, 9}, {{2, 1, -100}});
    const std::string bytes = bytes_in(path);
    ASSERT_EQ(bytes.size(), 20u + 3 * 4 + 2 * (4 + 4));
    EXPECT_EQ(bytes.substr(0, 8), "_logits_");
    const int32_t numbers[] = {3, 3, 1, 7, 8, 9};
    for (size_t i = 0; i < std::size(numbers); ++i)
        EXPECT_EQ(value_at<int32_t>(bytes, 8 + 4 * i), numbers[i]) << i;
    EXPECT_FLOAT_EQ(value_at<float>(bytes, 32), 16.0f / 65535);
    EXPECT_FLOAT_EQ(value_at<float>(bytes, 36), -16 - float(std::log(1 + std::exp(-1))));
    const uint16_t codes[] = {65535, 61439, 0, 0};  // 15 of 16 is 61439.06
    for (size_t i = 0; i < std::size(codes); ++i)
        EXPECT_EQ(value_at<uint16_t>(bytes, 40 + 2 * i), codes[i]) << i;
}

TEST(BaseFile, gives_back_what_it_was_given) {
    const test::Folder folder;
    for (size_t vocab : {1, 2, 1001}) {
        std::vector<Floats> predictions;
        for (uint64_t i = 0; i < 4; ++i) {
            predictions.push_back(normals(3 * i + 1, vocab));
            for (float& logit : predictions.back()) logit *= 4;
        }
        write(path_in(folder), 5, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, predictions);
        BaseReader reader(path_in(folder));
        EXPECT_EQ(reader.length(), 5);
        EXPECT_EQ(reader.vocab(), int64_t(vocab));
        EXPECT_EQ(reader.windows(), 2);
        for (const Floats& logits : predictions) {
            const std::vector<double> expected = log_probabilities(logits);
            const double best = *std::max_element(expected.begin(), expected.end());
            const BasePrediction prediction = reader.next();
            for (size_t i = 0; i < vocab; ++i)
                EXPECT_NEAR(prediction.log_probability(i), std::max(expected[i], best - 16), 2e-4);
        }
        EXPECT_NE(error_of([&] { reader.next(); }).find("the file is incomplete"),
                  std::string::npos);
    }
}

TEST(BaseFile, is_nothing_else) {
    const test::Folder folder;
    const std::string path = path_in(folder);
    const auto error_with = [&](const std::string& bytes) {
        std::ofstream(path, std::ios::binary) << bytes;
        return error_of([&] { BaseReader reader(path); });
    };
    const std::string none = "the predictions in " + path + " cannot be used: ";
    EXPECT_EQ(error_of([&] { BaseReader reader(path); }),
              "cannot read the predictions from " + path + ": No such file or directory");
    EXPECT_EQ(error_with(""), none + "the file is incomplete");
    EXPECT_EQ(error_with("0123456789ab"), none + "the file does not begin with _logits_");
    write(path, 3, {7, 8, 9}, {{2, 1, -100}});
    const std::string whole = bytes_in(path);
    for (size_t count = 8; count < whole.size(); ++count)
        EXPECT_EQ(error_with(whole.substr(0, count)), none + "the file is incomplete") << count;
    std::string huge = whole;
    huge.replace(8, 4, "\xff\xff\xff\x7f");
    EXPECT_EQ(error_with(huge), none + "the file is incomplete");
    huge.replace(12, 4, std::string(4, '\0'));
    EXPECT_EQ(error_with(huge), none + "the file claims 1 windows of 2147483647 tokens from 0");
    EXPECT_EQ(error_with(whole), "");
    EXPECT_EQ(
        error_of([&] { BaseReader reader(folder / "."); }),
        "the predictions in " + (folder / ".").string() + " cannot be used: it is a directory");
}

TEST(BaseFile, has_distributions) {
    const test::Folder folder;
    const std::string path = path_in(folder);
    write(path, 3, {7, 8, 9}, {{2, 1, -100}});
    const std::string whole = bytes_in(path);
    const auto error_with = [&](size_t at, float number) {
        std::string bytes = whole;
        std::memcpy(bytes.data() + at, &number, sizeof number);
        std::ofstream(path, std::ios::binary) << bytes;
        return error_of([&] { BaseReader(path).next(); });
    };
    const std::string none = "the predictions in " + path + " cannot be used: one of them is no ";
    for (float scale : {NAN, INFINITY, -1.0f, 100.0f})
        EXPECT_EQ(error_with(32, scale), none + "distribution") << scale;
    for (float least : {NAN, -INFINITY, INFINITY, 5.0f})
        EXPECT_EQ(error_with(36, least), none + "distribution") << least;
    BaseWriter writer((folder / "other").string(), nullptr);
    writer.begin(3, 3, std::vector<int32_t>{7, 8, 9});
    for (float broken : {NAN, INFINITY, -INFINITY}) {
        const Floats logits{broken, broken, 1};
        EXPECT_EQ(error_of([&] { writer.add(logits); }),
                  broken < 0 ? "" : "the model's logits are not all numbers");
    }
}

TEST(Divergence, is_that_of_the_probabilities) {
    const test::Folder folder;
    Floats base = normals(1, 500), other = normals(2, 500);
    for (size_t i = 0; i < base.size(); ++i) base[i] *= 3, other[i] = base[i] + other[i] / 2;
    constexpr size_t unlikely = 7;
    base[unlikely] = other[unlikely] = -60;
    write(path_in(folder), 3, {1, 2, 3}, {base});
    BaseReader reader(path_in(folder));
    const BasePrediction prediction = reader.next();
    const std::vector<double> p = log_probabilities(base), q = log_probabilities(other);
    double divergence = 0;
    for (size_t i = 0; i < p.size(); ++i) divergence += std::exp(p[i]) * (p[i] - q[i]);
    const size_t best = size_t(std::max_element(base.begin(), base.end()) - base.begin());
    for (size_t target : {size_t(0), best}) {
        const Difference difference = compare(other, prediction, int32_t(target));
        EXPECT_NEAR(difference.likelihood, -q[target], 1e-5);
        EXPECT_NEAR(difference.base_likelihood, -p[target], 2e-4);
        EXPECT_NEAR(difference.divergence, divergence, 1e-4);
        EXPECT_NEAR(difference.change, std::exp(q[target]) - std::exp(p[target]), 1e-4);
        EXPECT_TRUE(difference.same_top);
    }
    // What the file leaves out may be excluded, and nothing else.
    other[unlikely] = -INFINITY;
    EXPECT_NEAR(compare(other, prediction, 0).divergence, divergence, 1e-4);
    other[best] = -INFINITY;
    EXPECT_EQ(compare(other, prediction, 0).divergence, INFINITY);
    other[best] = -10;
    EXPECT_FALSE(compare(other, prediction, 0).same_top);
    EXPECT_GT(divergence, 0.01);
}

// Two predictions, worked out by hand.
TEST(Divergence, says_what_llama_perplexity_says) {
    Divergences divergences;
    divergences.add({.likelihood = 1,
                     .base_likelihood = 2,
                     .divergence = 0.25,
                     .change = 0.125,
                     .same_top = true});
    EXPECT_EQ(divergences.row(0),
              "   1       2.7183 \u00b1    0.0000      -1.00000 \u00b1    0.00000       0.25000 "
              "\u00b1    0.00000"
              "    12.500 \u00b1  0.000 %    100.000 \u00b1  0.000 %\n");
    divergences.add({.likelihood = 3,
                     .base_likelihood = 3,
                     .divergence = 0.75,
                     .change = -0.125,
                     .same_top = false});
    // Means 2 and 2.5, 1 and 0.5 uncertain, together 0.5; of the ratio 0.25 + 1 - 2 * 0.5.
    EXPECT_EQ(divergences.row(1),
              "   2       7.3891 \u00b1    7.3891      -0.50000 \u00b1    0.50000       0.50000 "
              "\u00b1    0.25000"
              "    12.500 \u00b1  0.000 %    50.000 \u00b1 50.000 %\n");
    const std::string text = divergences.summary();
    for (const char* line :
         {"\nMean PPL(Q)                   :   7.389056 \u00b1   7.389056\n",
          "\nMean PPL(base)                :  12.182494 \u00b1   6.091247\n",
          "\nCor(ln(PPL(Q)), ln(PPL(base))): 100.00%\n",
          "\nMean ln(PPL(Q)/PPL(base))     :  -0.500000 \u00b1   0.500000\n",
          "\nMean PPL(Q)/PPL(base)         :   0.606531 \u00b1   0.303265\n",
          "\nMean PPL(Q)-PPL(base)         :  -4.793438 \u00b1   1.297809\n",
          "\nMean    KLD:   0.500000 \u00b1   0.250000\n", "\nMaximum KLD:   0.750000\n",
          "\n90.0%   KLD:   0.700000\n", "\nMedian  KLD:   0.500000\n",
          "\n 1.0%   KLD:   0.255000\n", "\nMinimum KLD:   0.250000\n",
          "\nMean    \u0394p:  0.000 \u00b1 12.500 %\n", "\n75.0%   \u0394p:  6.250%\n",
          "\nRMS \u0394p    : 12.500 \u00b1 0.000 %\n", "\nSame top p: 50.000 \u00b1 50.000 %\n"})
        EXPECT_NE(text.find(line), std::string::npos) << line << text;
}

}  // namespace
}  // namespace tandem::cli
