#include "parallel/communicator/host.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "gguf/error.h"
#include "parallel/communicator/box.h"
#include "parallel/memory.h"

namespace tandem::parallel {

using kernels::Operand;
using kernels::Where;

namespace {

size_t index_in(const Group& group, int device) {
    return size_t(std::find(group.begin(), group.end(), device) - group.begin());
}

int64_t product(const std::vector<int64_t>& extents) {
    int64_t result = 1;
    for (int64_t extent : extents) result *= extent;
    return result;
}

}  // namespace

Wire wire_from_name(std::string_view name) {
    if (name == "f32") return Wire::F32;
    if (name == "f16") return Wire::F16;
    if (name == "bf16") return Wire::BF16;
    throw Error("reduce type \"" + std::string(name) +
                "\" does not exist; choose f32, f16 or bf16");
}

void HostCommunicator::AlignedDelete::operator()(std::byte* memory) const {
    ::operator delete[](memory, std::align_val_t(memory_alignment));
}

HostCommunicator::Block HostCommunicator::allocate(int64_t bytes) {
    Block block(static_cast<std::byte*>(::operator new[](
        size_t(std::max<int64_t>(bytes, 1)), std::align_val_t(memory_alignment), std::nothrow)));
    if (!block)
        throw Error("out of memory: " + std::to_string(bytes >> 20) +
                    " MiB for exchanges are not available; use smaller steps (-ub)");
    return block;
}

HostCommunicator::Point::Point(const Exchange* exchange)
    : exchange(exchange),
      published(exchange->sources.size()),
      consumed(exchange->to_host ? 1 : exchange->receivers.size()) {
    for (auto& slot : offers) slot.resize(exchange->sources.size());
}

HostCommunicator::HostCommunicator(const Placed& placed, size_t devices, Wire wire, bool spin)
    : placed_(placed), wire_(wire), spin_(spin), memory_(devices) {
    points_.resize(placed.steps.size());
    for (size_t i = 0; i < placed.steps.size(); ++i)
        if (auto* exchange = std::get_if<Exchange>(&placed.steps[i]))
            points_[i] = std::make_unique<Point>(exchange);
}

void HostCommunicator::reserve(int number, kernels::Device& device, int64_t sending_bytes,
                               int64_t landing_bytes) {
    Memory& memory = memory_[size_t(number)];
    for (int slot : {0, 1}) {
        memory.sending[slot] = device.exchange_memory(sending_bytes);
        if (wire_ != Wire::F32) memory.wire[slot] = allocate(sending_bytes);
    }
    memory.landing = device.exchange_memory(landing_bytes);
}

std::byte* HostCommunicator::sending(int device, int slot) {
    return memory_[size_t(device)].sending[slot];
}

std::byte* HostCommunicator::landing(int device) { return memory_[size_t(device)].landing; }

HostCommunicator::Point& HostCommunicator::point(int exchange) {
    return *points_[size_t(exchange)];
}

Wire HostCommunicator::wire(const Point& point) const {
    return point.exchange->kind == Exchange::Kind::Sum ? wire_ : Wire::F32;
}

// Run n is number n + 1 to the counters, so that 0 means never.

void HostCommunicator::begin(const Program& program, uint32_t sequence) {
    if (sequence < 2) return;
    for (const auto& item : program.items)
        if (auto* meeting = std::get_if<Meeting>(&item); meeting && !meeting->sends.empty())
            reuse(meeting->exchange, sequence - 2);
}

void HostCommunicator::reuse(int exchange, uint32_t sequence) {
    for (Counter& consumed : point(exchange).consumed)
        consumed.wait(sequence + 1, spin_, poisoned_);
}

void HostCommunicator::run(int device, const Meeting& meeting, uint32_t sequence, Counts counts) {
    Point& here = point(meeting.exchange);
    if (!meeting.sends.empty()) publish(here, device, meeting, sequence, counts);
    if (meeting.receives.empty()) return;
    for (Counter& published : here.published) published.wait(sequence + 1, spin_, poisoned_);
    for (size_t t = 0; t < meeting.receives.size(); ++t) {
        const Operand& to = meeting.receives[t];
        check(to.where == Where::Landing, "an exchange writes landing memory");
        assemble(here, t, int(sequence % 2), counts, to.view,
                 reinterpret_cast<float*>(landing(device) + to.offset));
    }
    here.consumed[index_in(here.exchange->receivers, device)].advance(sequence + 1);
}

void HostCommunicator::publish(Point& point, int device, const Meeting& meeting, uint32_t sequence,
                               Counts counts) {
    int slot = int(sequence % 2);
    for (const Operand& value : meeting.sends) {
        check(value.where == Where::Sending, "an exchange reads sending memory");
        if (wire(point) != Wire::F32)
            to_wire(wire_, reinterpret_cast<const float*>(sending(device, slot) + value.offset),
                    memory_[size_t(device)].wire[slot].get() + value.offset,
                    product(live_extents(value.view, counts)));
    }
    size_t source = index_in(point.exchange->sources, device);
    point.offers[slot][source] = {&meeting, device};
    point.published[source].advance(sequence + 1);
}

const std::byte* HostCommunicator::offered(const Offer& offer, size_t t, int slot,
                                           Wire type) const {
    const Memory& memory = memory_[size_t(offer.device)];
    return (type == Wire::F32 ? memory.sending[slot] : memory.wire[slot].get()) +
           offer.meeting->sends[t].offset;
}

void HostCommunicator::assemble(const Point& point, size_t t, int slot, Counts counts,
                                const graph::View& full, float* destination) const {
    const std::vector<Offer>& offers = point.offers[slot];
    Wire type = wire(point);
    for (size_t i = 0; i < offers.size(); ++i) {
        const std::byte* from = offered(offers[i], t, slot, type);
        const graph::View& range = offers[i].meeting->sends[t].view;
        std::vector<int64_t> extents = live_extents(range, counts);
        if (point.exchange->kind == Exchange::Kind::Place)
            place_range(range, extents, from, full, destination);
        else if (i == 0)
            from_wire(type, from, destination, product(extents));
        else
            add_from_wire(type, from, destination, product(extents));
    }
}

void HostCommunicator::fetch(int exchange, uint32_t sequence, Counts counts,
                             std::span<float> logits) {
    Point& here = point(exchange);
    // It takes a step, so that to spin would only keep a device from its core.
    for (Counter& published : here.published) published.wait(sequence + 1, false, poisoned_);
    int slot = int(sequence % 2);
    const Transfer& transfer = here.exchange->transfers[0];
    const graph::Value& value =
        placed_.graph->value(placed_.instances[size_t(transfer.from)].value);
    graph::View full{.axes = value.shape, .strides = std::vector<int64_t>(value.shape.size(), 1)};
    full.begins.assign(value.shape.size(), 0);
    for (Axis axis : value.shape) full.extents.push_back(axis->live() ? counts.rows : axis->extent);
    for (size_t i = full.extents.size(); i-- > 1;)
        full.strides[i - 1] = full.strides[i] * full.extents[i];
    check(int64_t(logits.size()) == full.elements(), "room for the logits of all rows");
    assemble(here, 0, slot, counts, full, logits.data());
    here.consumed[0].advance(sequence + 1);
}

void HostCommunicator::poison() {
    poisoned_.store(true);
    for (auto& point : points_) {
        if (!point) continue;
        for (Counter& counter : point->published) counter.wake();
        for (Counter& counter : point->consumed) counter.wake();
    }
}

}  // namespace tandem::parallel
