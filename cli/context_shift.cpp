#include "cli/context_shift.h"

#include <algorithm>

namespace tandem::cli {

namespace {

int64_t tokens_to_keep(const Arguments& arguments, bool adds_bos) {
    const int64_t keep = arguments.integer("keep", 0, -1);
    return keep < 0 ? keep : keep + (adds_bos ? 1 : 0);
}

// Until the context is full, says -n.
bool ends_when_full(const Arguments& arguments) {
    return arguments.integer("predict", -1, -2) == -2;
}

}  // namespace

ContextShift::ContextShift(const Arguments& arguments, bool adds_bos)
    : goes_on_(arguments.on("context-shift") && !ends_when_full(arguments)),
      wanted_(tokens_to_keep(arguments, adds_bos)) {}

void ContextShift::begin(int64_t prompt, int64_t opening) {
    kept_ = wanted_ < 0 ? prompt : std::min(std::max(wanted_, opening), prompt);
}

std::vector<int32_t> ContextShift::shifted(std::span<const int32_t> text) const {
    std::vector<int32_t> left(text.begin(), text.begin() + kept_);
    const int64_t forgotten = (int64_t(text.size()) - 1 - kept_) / 2;
    left.insert(left.end(), text.begin() + kept_ + forgotten, text.end());
    return left;
}

}  // namespace tandem::cli
