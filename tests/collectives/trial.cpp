#include "trial.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <thread>

#include "gguf/half.h"
#include "graph/ops.h"
#include "kernels/reference/device.h"
#include "parallel/local.h"
#include "parallel/memory.h"
#include "watchdog.h"

namespace tandem::test {

using namespace parallel;
using kernels::Operand;
using kernels::Where;

namespace {

constexpr int64_t bucket = 4, middle_extent = 3, last_extent = 10;

float rounded(Wire wire, float value) {
    if (wire == Wire::F16) return gguf::f16_to_f32(gguf::f32_to_f16(value));
    if (wire == Wire::BF16) return gguf::bf16_to_f32(gguf::f32_to_bf16(value));
    return value;
}

bool same_bits(std::span<const float> a, std::span<const float> b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * 4) == 0;
}

class Runner {
  public:
    explicit Runner(const Trial& trial) : trial_(trial) {
        devices_ = size_t(std::max(trial.sources.back(),
                                   trial.receivers.empty() ? 0 : trial.receivers.back())) +
                   1;
        Exchange exchange{.kind = trial.kind,
                          .sources = trial.sources,
                          .receivers = trial.receivers,
                          .to_host = trial.to_host};
        graph::Tensor x = graph_.input("ids");
        for (int t = 0; t < trial.transfers; ++t) {
            // Values of unequal length.
            graph::Axis last = graph_.axis("last" + std::to_string(t), last_extent + t);
            int value = graph_.append(made_, {x}, {live(), middle_, last}).value;
            values_.push_back(value);
            partitions_.push_back({.axis = trial.along_middle ? middle_ : last,
                                   .group = trial.sources,
                                   .bounds = trial.bounds});
            Placement all = Placement::replicated(trial.to_host ? trial.sources : trial.receivers);
            placed_.instances.push_back({value, all});
            exchange.transfers.push_back({.from = t, .to = t});
        }
        placed_.steps.emplace_back(exchange);
        meetings_.resize(devices_);
        for (size_t device = 0; device < devices_; ++device) lay_out(int(device));
        communicator_ =
            std::make_unique<HostCommunicator>(placed_, devices_, trial.wire, trial.spin);
        for (size_t device = 0; device < devices_; ++device)
            communicator_->reserve(int(device), memory_.emplace_back("memory", 0), 1 << 16,
                                   1 << 16);
    }

    void run() {
        Watchdog watchdog;
        std::vector<std::thread> threads;
        for (size_t device = 0; device < devices_; ++device)
            threads.emplace_back([this, device] { take_part(int(device)); });
        for (uint32_t round = 0; trial_.to_host && round < uint32_t(trial_.rounds); ++round) {
            Random random(round + 99);
            rest(random);
            std::span<const float> logits = communicator_->fetch(0, round, counts(round));
            rest(random);  // the sources go on
            EXPECT_TRUE(same_bits(logits, expected(round, 0))) << "round " << round;
        }
        for (std::thread& thread : threads) thread.join();
    }

  private:
    graph::Axis live() const { return trial_.to_host ? graph_.rows() : graph_.tokens(); }
    // Fewer than there is room for, in turn.
    Counts counts(uint32_t round) const {
        int64_t count = 1 + int64_t(round + trial_.seed) % bucket;
        return trial_.to_host ? Counts{.tokens = 1, .rows = count} : Counts{.tokens = count};
    }
    int64_t count(Counts counts) const { return trial_.to_host ? counts.rows : counts.tokens; }
    int64_t elements(Counts counts, int t) const {
        return count(counts) * middle_extent * (last_extent + t);
    }

    // What a source has of the whole: its addend, or the values that its range is taken from.
    std::vector<float> contribution(int source, uint32_t round, int t) const {
        bool sum = trial_.kind == Exchange::Kind::Sum;
        uint64_t of = sum ? uint64_t(source) : 0;
        Random random(trial_.seed * 1000003 + of * 1009 + round * 31 + uint64_t(t));
        std::vector<float> values = random.floats(elements(counts(round), t));
        if (trial_.ids)  // -1 is a NaN, and small numbers are denormal
            for (float& value : values)
                value = std::bit_cast<float>(int32_t(random.below(600)) - 1);
        return values;
    }

    std::vector<float> expected(uint32_t round, int t) const {
        if (trial_.kind == Exchange::Kind::Place) return contribution(0, round, t);
        std::vector<float> sum;
        for (int source : trial_.sources) {
            std::vector<float> addend = contribution(source, round, t);
            if (sum.empty()) sum.resize(addend.size(), 0.0f);
            for (size_t i = 0; i < sum.size(); ++i) {
                float value = rounded(trial_.wire, addend[i]);
                sum[i] = source == trial_.sources[0] ? value : sum[i] + value;
            }
        }
        return sum;
    }

    bool has_range(int t) const {
        return trial_.kind == Exchange::Kind::Place && !partitions_[size_t(t)].bounds.empty();
    }

    Operand operand(int device, int t, bool whole) const {
        const graph::Value& value = graph_.value(values_[size_t(t)]);
        Operand operand{.view = {.axes = value.shape}, .value = values_[size_t(t)]};
        for (graph::Axis axis : value.shape) {
            Range range{0, axis->live() ? bucket : axis->extent};
            const Partition& partition = partitions_[size_t(t)];
            if (!whole && has_range(t) && axis == partition.axis)
                range = partition.range(partition.member(device), axis);
            operand.view.begins.push_back(range.begin);
            operand.view.extents.push_back(range.size());
        }
        operand.view.strides = dense_strides(operand.view.extents);
        return operand;
    }

    void lay_out(int device) {
        Meeting& meeting = meetings_[size_t(device)];
        meeting.exchange = 0;
        int64_t sending = 64, landing = 128;
        for (int t = 0; t < trial_.transfers; ++t) {
            if (contains(trial_.sources, device)) {
                Operand from = operand(device, t, false);
                from.where = Where::Sending;
                from.offset = sending;
                meeting.sends.push_back(from);
                sending += aligned(bucket * middle_extent * (last_extent + t) * 4);
            }
            if (contains(trial_.receivers, device)) {
                Operand to = operand(device, t, true);
                to.where = Where::Landing;
                to.offset = landing;
                landing += aligned(elements({.tokens = bucket, .rows = bucket}, t) * 4);
                meeting.receives.push_back(to);
            }
        }
    }

    void rest(Random& random) const {
        if (trial_.sleeps && random.below(3) == 0)
            std::this_thread::sleep_for(std::chrono::microseconds(random.below(2000)));
    }

    // One device's thread.
    void take_part(int device) {
        const Meeting& meeting = meetings_[size_t(device)];
        if (meeting.sends.empty() && meeting.receives.empty()) return;
        Program program{.device = device, .bucket = bucket};
        program.items.emplace_back(meeting);
        Random random(trial_.seed + uint64_t(device));
        for (uint32_t round = 0; round < uint32_t(trial_.rounds); ++round) {
            communicator_->begin(program, round);
            rest(random);
            for (size_t t = 0; t < meeting.sends.size(); ++t)
                write(device, meeting.sends[t], int(t), round);
            communicator_->run(device, meeting, round, counts(round));
            rest(random);
            for (size_t t = 0; t < meeting.receives.size(); ++t) {
                auto* landed = reinterpret_cast<const float*>(communicator_->landing(device) +
                                                              meeting.receives[t].offset);
                EXPECT_TRUE(same_bits({landed, size_t(elements(counts(round), int(t)))},
                                      expected(round, int(t))))
                    << "device " << device << " round " << round << " transfer " << t;
            }
        }
    }

    // Puts the source's range or addend where a launch would have left it.
    void write(int device, const Operand& to, int t, uint32_t round) const {
        std::vector<float> all = contribution(device, round, t);
        std::byte* slot = communicator_->sending(device, int(round % 2));
        auto* data = reinterpret_cast<float*>(slot + to.offset);
        const std::vector<int64_t>&begins = to.view.begins, &extents = to.view.extents;
        for (int64_t token = 0; token < count(counts(round)); ++token)
            for (int64_t i = 0; i < extents[1]; ++i)
                for (int64_t j = 0; j < extents[2]; ++j)
                    data[token * to.view.strides[0] + i * to.view.strides[1] +
                         j * to.view.strides[2]] =
                        all[size_t((token * middle_extent + i + begins[1]) * (last_extent + t) + j +
                                   begins[2])];
    }

    const Trial& trial_;
    const graph::Op made_{.name = "made"};
    graph::Graph graph_;
    graph::Axis middle_ = graph_.axis("middle", middle_extent);
    Placed placed_{.graph = &graph_};
    size_t devices_ = 0;
    std::vector<int> values_;
    std::vector<Partition> partitions_;  // of the transfers
    std::vector<Meeting> meetings_;      // of the devices
    std::deque<kernels::ReferenceDevice> memory_;
    std::unique_ptr<HostCommunicator> communicator_;
};

}  // namespace

void expect_exchanged(const Trial& trial) { Runner(trial).run(); }

}  // namespace tandem::test
