#include "kernels/devices.h"

#include "gguf/error.h"
#include "kernels/host.h"
#include "kernels/reference/device.h"

namespace tandem::kernels {

std::vector<std::unique_ptr<Device>> make_devices(const std::vector<std::string>& names, int) {
    std::vector<std::unique_ptr<Device>> devices;
    int64_t share = free_memory() / int64_t(std::max<size_t>(1, names.size()));
    for (const std::string& name : names) {
        if (name == "reference")
            devices.push_back(std::make_unique<ReferenceDevice>(name, share));
        else
            throw Error("device \"" + name + "\" does not exist; use reference");
    }
    return devices;
}

}  // namespace tandem::kernels
