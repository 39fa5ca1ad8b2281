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

// Elements that are worth the start of a device's threads, a few microseconds.
constexpr int64_t worth_dividing = 1 << 15;

void divide(kernels::Device& device, int64_t elements,
            const std::function<void(int64_t first, int64_t end)>& work) {
    if (elements < worth_dividing)
        work(0, elements);
    else
        device.divide(elements, work);
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
    memory.device = &device;
    for (int slot : {0, 1}) {
        memory.sending[slot] = device.exchange_memory(sending_bytes);
        if (wire_ != Wire::F32) memory.wire[slot] = allocate(wire_bytes(wire_, sending_bytes));
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

std::chrono::nanoseconds HostCommunicator::run(int device, const Meeting& meeting,
                                               uint32_t sequence, Counts counts) {
    Point& here = point(meeting.exchange);
    const Moment arrived = std::chrono::steady_clock::now();
    if (!meeting.sends.empty()) publish(here, device, meeting, arrived, sequence, counts);
    if (meeting.receives.empty()) return {};
    Moment last = arrived;
    for (size_t source = 0; source < here.published.size(); ++source) {
        await(here, source, device, sequence, counts);
        last = std::max(last, here.offers[sequence % 2][source].arrived);
    }
    for (size_t t = 0; t < meeting.receives.size(); ++t) {
        const Operand& to = meeting.receives[t];
        check(to.where == Where::Landing, "an exchange writes landing memory");
        auto* destination = reinterpret_cast<float*>(landing(device) + to.offset);
        if (here.exchange->kind == Exchange::Kind::Sum)
            add(here, t, int(sequence % 2), counts, *memory_[size_t(device)].device, destination);
        else
            place(here, t, int(sequence % 2), counts, to.view, destination);
    }
    here.consumed[index_in(here.exchange->receivers, device)].advance(sequence + 1);
    return last - arrived;
}

void HostCommunicator::await(const Point& point, size_t source, int device, uint32_t sequence,
                             Counts counts) {
    const Counter& published = point.published[source];
    const int other = point.exchange->sources[source];
    auto done = [&] { return published.reached(sequence + 1) || poisoned_.load(); };
    if (other != device && counts.tokens >= kernels::Device::worth_helping && !done())
        memory_[size_t(device)].device->help(*memory_[size_t(other)].device, done);
    published.wait(sequence + 1, spin_, poisoned_);
}

void HostCommunicator::publish(Point& point, int device, const Meeting& meeting, Moment arrived,
                               uint32_t sequence, Counts counts) {
    int slot = int(sequence % 2);
    Memory& memory = memory_[size_t(device)];
    for (const Operand& value : meeting.sends) {
        check(value.where == Where::Sending, "an exchange reads sending memory");
        if (wire(point) == Wire::F32) continue;
        auto* from = reinterpret_cast<const float*>(memory.sending[slot] + value.offset);
        std::byte* to = memory.wire[slot].get() + wire_bytes(wire_, value.offset);
        divide(*memory.device, product(live_extents(value.view, counts)),
               [&](int64_t first, int64_t end) { to_wire(wire_, from, to, first, end); });
    }
    size_t source = index_in(point.exchange->sources, device);
    point.offers[slot][source] = {&meeting, device, arrived};
    point.published[source].advance(sequence + 1);
}

const std::byte* HostCommunicator::offered(const Offer& offer, size_t t, int slot,
                                           Wire type) const {
    const Memory& memory = memory_[size_t(offer.device)];
    return (type == Wire::F32 ? memory.sending[slot] : memory.wire[slot].get()) +
           wire_bytes(type, offer.meeting->sends[t].offset);
}

// Every receiver makes all of the sum: to divide that among them would take a second meeting.
void HostCommunicator::add(const Point& point, size_t t, int slot, Counts counts,
                           kernels::Device& device, float* destination) const {
    const std::vector<Offer>& offers = point.offers[slot];
    Wire type = wire(point);
    std::vector<const std::byte*> addends;
    for (const Offer& offer : offers) addends.push_back(offered(offer, t, slot, type));
    divide(device, product(live_extents(offers[0].meeting->sends[t].view, counts)),
           [&](int64_t first, int64_t end) { add_up(type, addends, destination, first, end); });
}

void HostCommunicator::place(const Point& point, size_t t, int slot, Counts counts,
                             const graph::View& full, float* destination) const {
    for (const Offer& offer : point.offers[slot]) {
        const graph::View& range = offer.meeting->sends[t].view;
        place_range(range, live_extents(range, counts), offered(offer, t, slot, wire(point)), full,
                    destination);
    }
}

std::span<const float> HostCommunicator::fetch(int exchange, uint32_t sequence, Counts counts) {
    Point& here = point(exchange);
    // What the call before gave in place is read no more. (At the first nothing advances: a counter
    // that is set to what its waiters saw would undo that they were woken.)
    const bool in_place = here.published.size() == 1;
    if (in_place && sequence > 0) here.consumed[0].advance(sequence);
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
    check(here.exchange->kind == Exchange::Kind::Place, "logits are not fetched as addends");
    const auto elements = size_t(full.elements());
    const std::vector<Offer>& offers = here.offers[slot];
    if (in_place) {
        const graph::View& sent = offers[0].meeting->sends[0].view;
        check(product(live_extents(sent, counts)) == full.elements(), "one source has all logits");
        return {reinterpret_cast<const float*>(offered(offers[0], 0, slot, wire(here))), elements};
    }
    fetched_.resize(elements);
    place(here, 0, slot, counts, full, fetched_.data());
    here.consumed[0].advance(sequence + 1);
    return fetched_;
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
