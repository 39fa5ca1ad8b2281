#include "kernels/cpu/loading.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/cpu/packing.h"
#include "kernels/cpu/short_bf16.h"

namespace tandem::kernels::cpu {

namespace {

int64_t groups_of(const WeightSource& source, int lanes) {
    return source.matrices * ((source.rows + lanes - 1) / lanes);
}

// Calls visit(group, its rows in the file, their bytes there) for groups of a member's share, until
// it returns false. Of the last group of a matrix, rows that are not there are null.
template <typename Visit>
void each_group(const WeightSource& source, int lanes, const Worker& worker, Visit visit) {
    const int64_t row_bytes = gguf::row_bytes(source.dtype, source.columns);
    const int64_t groups = (source.rows + lanes - 1) / lanes;
    const auto [first, last] = worker.share(groups_of(source, lanes));
    std::vector<std::byte> assembled(static_cast<size_t>(lanes * row_bytes));
    std::vector<const std::byte*> rows(static_cast<size_t>(lanes));
    for (int64_t group = first; group < last; ++group) {
        const int64_t row = group % groups * lanes;
        const int64_t count = std::min<int64_t>(lanes, source.rows - row);
        for (int64_t lane = 0; lane < lanes; ++lane)
            rows[size_t(lane)] = lane < count
                                     ? source.row(group / groups * source.rows + row + lane,
                                                  assembled.data() + lane * row_bytes)
                                     : nullptr;
        if (!visit(group, rows.data(), count * row_bytes)) return;
    }
}

// Bytes taken; 0 where too many groups cannot be short.
int64_t load_short(const Isa& isa, Team& team, const WeightSource& source, std::byte* to,
                   std::atomic<int64_t>& progress) {
    const int64_t groups = groups_of(source, isa.lanes);
    const int64_t plain_group = group_bytes(source.dtype, isa.lanes, source.columns);
    const int64_t columns_bytes = plain_bytes(isa.lanes, source.columns);
    const int64_t stride = short_group_bytes(isa.lanes, source.columns);
    // Behind all groups is what they take less than plain ones.
    std::byte* const columns_of_plain = to + groups * stride;
    const int64_t most_plain = groups * (plain_group - stride) / columns_bytes;
    std::atomic<int64_t> plain = 0, read = 0;
    team.run_apart([&](const Worker& worker) {
        std::vector<std::byte> packed(static_cast<size_t>(plain_group));
        std::byte* const columns = packed.data() + sizeof(Bf16Head);
        each_group(source, isa.lanes, worker,
                   [&](int64_t group, const std::byte* const* rows, int64_t bytes) {
                       std::byte* const at = to + group * stride;
                       pack_group(source.dtype, isa.lanes, source.columns, rows, packed.data());
                       if (!shorten(isa.lanes, source.columns, columns, at)) {
                           const int64_t number = plain++;
                           if (number >= most_plain) return false;
                           std::byte* const place = columns_of_plain + number * columns_bytes;
                           std::memcpy(place, columns, size_t(columns_bytes));
                           const Bf16Head head{.next = stride, .plain_at = place - at};
                           std::memcpy(at, &head, sizeof head);
                       }
                       progress += bytes;
                       read += bytes;
                       return plain <= most_plain;
                   });
    });
    if (plain <= most_plain) return groups * stride + plain * columns_bytes;
    progress -= read;
    return 0;
}

}  // namespace

int64_t load_packed(const Isa& isa, Team& team, const WeightSource& source, std::byte* to,
                    std::atomic<int64_t>& progress) {
    if (source.dtype == gguf::DType::BF16 && isa.keeps_short_bf16 &&
        can_be_short(isa.lanes, source.columns))
        if (const int64_t taken = load_short(isa, team, source, to, progress)) return taken;
    const int64_t stride = group_bytes(source.dtype, isa.lanes, source.columns);
    team.run_apart([&](const Worker& worker) {
        each_group(source, isa.lanes, worker,
                   [&](int64_t group, const std::byte* const* rows, int64_t bytes) {
                       pack_group(source.dtype, isa.lanes, source.columns, rows,
                                  to + group * stride);
                       progress += bytes;
                       return true;
                   });
    });
    return groups_of(source, isa.lanes) * stride;
}

}  // namespace tandem::kernels::cpu
