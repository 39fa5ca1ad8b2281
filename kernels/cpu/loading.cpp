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

// Calls visit(group, its rows in the file, their bytes there) for groups [first, last) of all
// matrices, until it returns false. Of the last group of a matrix, rows that are not there are
// null.
template <typename Visit>
void each_group(const WeightSource& source, int lanes, Range range, Visit visit) {
    const int64_t row_bytes = gguf::row_bytes(source.dtype, source.columns);
    const int64_t groups = (source.rows + lanes - 1) / lanes;
    std::vector<std::byte> assembled(static_cast<size_t>(lanes * row_bytes));
    std::vector<const std::byte*> rows(static_cast<size_t>(lanes));
    for (int64_t group = range.first; group < range.last; ++group) {
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

// Packs groups, and makes them short.
class Shortener {
  public:
    Shortener(const WeightSource& source, int lanes)
        : source_(source),
          lanes_(lanes),
          packed_(size_t(group_bytes(source.dtype, lanes, source.columns))),
          bf16_(size_t(2 * lanes * source.columns)) {}

    // False where some numbers are not those of BF16.
    bool narrow(const std::byte* const* rows) {
        pack_group(source_.dtype, lanes_, source_.columns, rows, packed_.data());
        return cpu::narrow(source_.dtype, plain_columns(), lanes_ * source_.columns, bf16_.data());
    }
    // False where the group cannot be short; then plain_columns() are to be kept.
    bool shorten(const std::byte* const* rows, std::byte* to) {
        return narrow(rows) && cpu::shorten(lanes_, source_.columns, bf16_.data(), to);
    }
    const std::byte* plain_columns() const { return packed_.data() + sizeof(FloatHead); }

  private:
    const WeightSource& source_;
    const int lanes_;
    std::vector<std::byte> packed_, bf16_;
};

// Whether it is worth trying: numbers of F16 or F32 that BF16 does not have are seldom alone.
bool may_be_short(const Isa& isa, const WeightSource& source) {
    if (!gguf::is_plain(source.dtype) || !isa.keeps_short_bf16 ||
        !can_be_short(isa.lanes, source.columns))
        return false;
    bool first_is = false;
    each_group(source, isa.lanes, {0, 1}, [&](int64_t, const std::byte* const* rows, int64_t) {
        return first_is = Shortener(source, isa.lanes).narrow(rows);
    });
    return first_is;
}

// Bytes taken; 0 where too many groups cannot be short.
int64_t load_short(const Isa& isa, Team& team, const WeightSource& source, std::byte* to,
                   std::atomic<int64_t>& progress) {
    const int64_t groups = groups_of(source, isa.lanes);
    const int64_t plain_group = group_bytes(source.dtype, isa.lanes, source.columns);
    const int64_t columns_bytes = plain_group - int64_t(sizeof(FloatHead));
    const int64_t stride = short_group_bytes(isa.lanes, source.columns);
    // Behind all groups is what they take less than plain ones.
    std::byte* const columns_of_plain = to + groups * stride;
    const int64_t most_plain = groups * (plain_group - stride) / columns_bytes;
    std::atomic<int64_t> plain = 0, read = 0;
    team.run_apart([&](const Worker& worker) {
        Shortener shortener(source, isa.lanes);
        each_group(source, isa.lanes, worker.share(groups),
                   [&](int64_t group, const std::byte* const* rows, int64_t bytes) {
                       std::byte* const at = to + group * stride;
                       if (!shortener.shorten(rows, at)) {
                           const int64_t number = plain++;
                           if (number >= most_plain) return false;
                           std::byte* const place = columns_of_plain + number * columns_bytes;
                           std::memcpy(place, shortener.plain_columns(), size_t(columns_bytes));
                           const FloatHead head{.next = stride, .plain_at = place - at};
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
    if (may_be_short(isa, source))
        if (const int64_t taken = load_short(isa, team, source, to, progress)) return taken;
    const int64_t stride = group_bytes(source.dtype, isa.lanes, source.columns);
    team.run_apart([&](const Worker& worker) {
        each_group(source, isa.lanes, worker.share(groups_of(source, isa.lanes)),
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
