// What a plan knows of the devices: a table of numbers, measured by `tandem devices --measure` or
// given in a file. A plan is a pure function of metadata, flags and this table.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/device.h"

namespace tandem::parallel {

struct DeviceRow {
    std::string name;
    int64_t free_bytes = 0;
    double bytes_per_second = 0;              // of streaming weights
    double multiply_adds_per_second = 0;      // of large matrix products
    std::string rounding;                     // devices with the same text give the same bits
    const kernels::Device* device = nullptr;  // for packed sizes; null: as in the file
    std::optional<int> memory;  // that some share (kernels::Description); else its own
};

// One exchange between two devices takes `seconds` and moves `bytes_per_second`; 0: not known.
struct Link {
    double seconds = 0;
    double bytes_per_second = 0;
};

struct DeviceTable {
    std::vector<DeviceRow> devices;
    std::vector<std::vector<Link>> links;  // [a][b]

    size_t size() const { return devices.size(); }
};

// Bytes that a device has too few for what it needs. Of a memory that devices share, each may take
// what others leave of their parts; what that lacks is divided among those who need more than
// theirs. `needed`: of each device.
int64_t lacking_bytes(const DeviceTable& table, std::span<const int64_t> needed, size_t device);

// JSON: {"devices": [{"name", "free_bytes", "bytes_per_second", "multiply_adds_per_second"}, ...],
//        "link": {"seconds", "bytes_per_second"},
//        "links": [{"between": ["a", "b"], "seconds", "bytes_per_second"}, ...]}
// "link" is what pairs have that "links" does not name. Of devices in `names`, in any case, only
// their rows and links, in that order; a name that comes twice takes two. Throws Error naming the
// file and the entry, or the device that has none. The text may have been read already.
DeviceTable parse_device_table(const std::string& text, const std::filesystem::path& path,
                               std::span<const std::string> names = {});
DeviceTable read_device_table(const std::filesystem::path& path,
                              std::span<const std::string> names = {});
// Throws Error naming a pair of the first `count` devices whose link is not known.
void require_links(const DeviceTable& table, size_t count);
std::string to_text(const DeviceTable& table);
void write_device_table(const std::filesystem::path& path, const DeviceTable& table);

}  // namespace tandem::parallel
