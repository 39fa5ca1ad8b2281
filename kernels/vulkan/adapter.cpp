#include "kernels/vulkan/adapter.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "gguf/error.h"
#include "kernels/host.h"
#include "kernels/vulkan/matrix_units.h"

namespace tandem::kernels::vulkan {

namespace {

constexpr uint32_t least_version = VK_API_VERSION_1_2;

std::optional<uint32_t> compute_family(const vk::raii::PhysicalDevice& adapter) {
    const auto families = adapter.getQueueFamilyProperties();
    for (uint32_t i = 0; i < families.size(); ++i)
        if (families[i].queueFlags & vk::QueueFlagBits::eCompute) return i;
    return {};
}

// False where the driver chooses how many invocations the subgroups of a pipeline have.
bool has_steady_subgroups(const vk::raii::PhysicalDevice& adapter) {
    if (adapter.getProperties().apiVersion < VK_API_VERSION_1_3 &&
        !has_extension(adapter, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME))
        return true;
    const auto sizes = adapter
                           .getProperties2<vk::PhysicalDeviceProperties2,
                                           vk::PhysicalDeviceSubgroupSizeControlProperties>()
                           .get<vk::PhysicalDeviceSubgroupSizeControlProperties>();
    return sizes.minSubgroupSize == sizes.maxSubgroupSize;
}

using SubgroupFeatures = vk::PhysicalDeviceSubgroupSizeControlFeatures;

// Of the size that the driver says subgroups have.
FullSubgroups full_subgroups_of(const vk::raii::PhysicalDevice& adapter, uint32_t invocations) {
    if (!has_extension(adapter, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME)) return {};
    const auto features = adapter.getFeatures2<vk::PhysicalDeviceFeatures2, SubgroupFeatures>()
                              .get<SubgroupFeatures>();
    const auto sizes = adapter
                           .getProperties2<vk::PhysicalDeviceProperties2,
                                           vk::PhysicalDeviceSubgroupSizeControlProperties>()
                           .get<vk::PhysicalDeviceSubgroupSizeControlProperties>();
    const bool offered = features.subgroupSizeControl && features.computeFullSubgroups &&
                         (sizes.requiredSubgroupSizeStages & vk::ShaderStageFlagBits::eCompute) &&
                         sizes.minSubgroupSize <= invocations &&
                         invocations <= sizes.maxSubgroupSize;
    return offered ? FullSubgroups{invocations, sizes.maxComputeWorkgroupSubgroups}
                   : FullSubgroups{};
}

// As many subgroups as the adapter can hold at a time, where the driver says so.
int busy_subgroups(const vk::raii::PhysicalDevice& adapter) {
    constexpr int usual = 2048;
    if (has_extension(adapter, VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME)) {
        const auto units = adapter
                               .getProperties2<vk::PhysicalDeviceProperties2,
                                               vk::PhysicalDeviceShaderSMBuiltinsPropertiesNV>()
                               .get<vk::PhysicalDeviceShaderSMBuiltinsPropertiesNV>();
        return int(units.shaderSMCount * units.shaderWarpsPerSM);
    }
    if (has_extension(adapter, VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME)) {
        const auto units = adapter
                               .getProperties2<vk::PhysicalDeviceProperties2,
                                               vk::PhysicalDeviceShaderCorePropertiesAMD>()
                               .get<vk::PhysicalDeviceShaderCorePropertiesAMD>();
        return int(units.shaderEngineCount * units.shaderArraysPerEngineCount *
                   units.computeUnitsPerShaderArray * units.simdPerComputeUnit *
                   units.wavefrontsPerSimd);
    }
    return usual;
}

Ticks ticks_of(const vk::raii::PhysicalDevice& adapter, uint32_t family) {
    const uint32_t bits = adapter.getQueueFamilyProperties()[family].timestampValidBits;
    if (bits == 0) return {};
    return {.nanoseconds = double(adapter.getProperties().limits.timestampPeriod),
            .mask = ~uint64_t(0) >> (64 - bits)};
}

// What the kernels cannot do without, by the names of the specification.
std::string missing_of(const vk::raii::PhysicalDevice& adapter) {
    if (adapter.getProperties().apiVersion < least_version) return "Vulkan 1.2";
    if (!compute_family(adapter)) return "a queue that computes";
    auto chain =
        adapter.getFeatures2<vk::PhysicalDeviceFeatures2, vk::PhysicalDeviceVulkan12Features>();
    if (!chain.get<vk::PhysicalDeviceFeatures2>().features.shaderInt64) return "shaderInt64";
    const auto& features = chain.get<vk::PhysicalDeviceVulkan12Features>();
    if (!features.bufferDeviceAddress) return "bufferDeviceAddress";
    if (!features.timelineSemaphore) return "timelineSemaphore";
    if (adapter.getProperties().limits.maxComputeSharedMemorySize < shared_bytes)
        return "32 KiB of memory for a workgroup";
    const auto subgroup =
        adapter
            .getProperties2<vk::PhysicalDeviceProperties2, vk::PhysicalDeviceSubgroupProperties>()
            .get<vk::PhysicalDeviceSubgroupProperties>();
    if (!(subgroup.supportedOperations & vk::SubgroupFeatureFlagBits::eArithmetic))
        return "subgroup arithmetic";
    // Loops over a subgroup take steps of the size that the driver says.
    if (!has_steady_subgroups(adapter) &&
        full_subgroups_of(adapter, subgroup.subgroupSize).invocations == 0)
        return "subgroups of one size (VK_EXT_subgroup_size_control)";
    return {};
}

using DotFeatures = vk::PhysicalDeviceShaderIntegerDotProductFeatures;

bool offers_dots(const vk::raii::PhysicalDevice& adapter) {
    return has_extension(adapter, VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME) &&
           adapter.getFeatures2<vk::PhysicalDeviceFeatures2, DotFeatures>()
               .get<DotFeatures>()
               .shaderIntegerDotProduct;
}

bool does_dots_fast(const vk::raii::PhysicalDevice& adapter) {
    return adapter
        .getProperties2<vk::PhysicalDeviceProperties2,
                        vk::PhysicalDeviceShaderIntegerDotProductProperties>()
        .get<vk::PhysicalDeviceShaderIntegerDotProductProperties>()
        .integerDotProduct4x8BitPackedSignedAccelerated;
}

// Of the largest heap of the device's own: size, and what is free of it where the driver says so.
std::pair<int64_t, int64_t> memory_of(const vk::raii::PhysicalDevice& adapter, bool budget) {
    // Without the extension the driver leaves the second part as it is.
    const auto chain = adapter.getMemoryProperties2<vk::PhysicalDeviceMemoryProperties2,
                                                    vk::PhysicalDeviceMemoryBudgetPropertiesEXT>();
    const auto& heaps = chain.get<vk::PhysicalDeviceMemoryProperties2>().memoryProperties;
    const auto& budgets = chain.get<vk::PhysicalDeviceMemoryBudgetPropertiesEXT>();
    int64_t total = 0, free = 0;
    for (uint32_t i = 0; i < heaps.memoryHeapCount; ++i) {
        const auto size = int64_t(heaps.memoryHeaps[i].size);
        if (!(heaps.memoryHeaps[i].flags & vk::MemoryHeapFlagBits::eDeviceLocal) || size < total)
            continue;
        total = size;
        free = budget ? std::max<int64_t>(
                            0, int64_t(budgets.heapBudget[i]) - int64_t(budgets.heapUsage[i]))
                      : size;
    }
    return {total, free};
}

using Uuid = std::array<uint8_t, VK_UUID_SIZE>;

// The same for all drivers of one GPU.
Uuid uuid_of(const vk::raii::PhysicalDevice& adapter) {
    return adapter.getProperties2<vk::PhysicalDeviceProperties2, vk::PhysicalDeviceIDProperties>()
        .get<vk::PhysicalDeviceIDProperties>()
        .deviceUUID;
}

}  // namespace

std::string text_of(const Features& features, bool software) {
    std::string text = software ? "software on the CPU, " : "";
    text += "subgroups of " + std::to_string(features.subgroup);
    if (features.integer_dots) text += ", integer dots";
    if (features.matrix_units) text += ", " + text_of(features.matrix_units);
    return text;
}

// A driver counts the host's memory as an integrated adapter's own, but may also have some that the
// host does not see.
int64_t free_for(const VulkanAdapter& adapter, const VulkanOptions& options) {
    if (adapter.software) return options.host_bytes;
    return left_of(adapter.free_bytes) /
           (options.sharers + (adapter.integrated ? options.host_devices : 0));
}

namespace {

Drivers load_drivers() {
    const vk::ApplicationInfo application{.pApplicationName = "tandem",
                                          .apiVersion = least_version};
    vk::raii::Context loader;
    vk::raii::Instance instance(loader, {.pApplicationInfo = &application});
    return {std::move(loader), std::move(instance)};
}

// Libraries of drivers come and go with instances, and some cannot come back very often: NVIDIA's
// fails after some thirty times. An instance that is never given up keeps them.
void keep_drivers() {
    [[maybe_unused]] static const auto* const kept = new Drivers(load_drivers());
}

}  // namespace

Drivers open_drivers() {
    try {
        keep_drivers();
        return load_drivers();
    } catch (const vk::IncompatibleDriverError&) {
        throw Error("no Vulkan driver is installed; it comes with a GPU's driver");
    } catch (const vk::SystemError& error) {
        throw Error(std::string("the Vulkan drivers fail: ") + error.what());
    } catch (const std::runtime_error&) {
        throw Error(
            "no Vulkan loader (libvulkan.so.1) is installed; it comes with a GPU's driver, "
            "or in the package libvulkan1");
    }
}

std::vector<vk::raii::PhysicalDevice> adapters_of(const vk::raii::Instance& instance) {
    std::vector<vk::raii::PhysicalDevice> all;
    try {
        all = vk::raii::PhysicalDevices(instance);
    } catch (const vk::InitializationFailedError&) {
        // So say drivers of hardware that is not there.
    }
    if (all.empty()) throw Error("the Vulkan drivers that are installed find no device");
    return all;
}

void require_usable(const VulkanAdapter& adapter, const std::string& device) {
    if (!adapter.missing.empty())
        throw Error("device " + device + " (" + adapter.name + ") lacks " + adapter.missing +
                    ", which the kernels need");
}

bool has_extension(const vk::raii::PhysicalDevice& adapter, std::string_view name) {
    for (const vk::ExtensionProperties& extension : adapter.enumerateDeviceExtensionProperties())
        if (name == extension.extensionName.data()) return true;
    return false;
}

AdapterFacts facts_of(const vk::raii::PhysicalDevice& adapter) {
    AdapterFacts facts;
    VulkanAdapter& seen = facts.adapter;
    const vk::PhysicalDeviceProperties properties = adapter.getProperties();
    seen.name = properties.deviceName.data();
    seen.software = properties.deviceType == vk::PhysicalDeviceType::eCpu;
    seen.integrated = properties.deviceType == vk::PhysicalDeviceType::eIntegratedGpu;
    seen.missing = missing_of(adapter);
    if (!seen.missing.empty()) return facts;
    const auto chain =
        adapter.getProperties2<vk::PhysicalDeviceProperties2, vk::PhysicalDeviceDriverProperties,
                               vk::PhysicalDeviceSubgroupProperties>();
    const auto& driver = chain.get<vk::PhysicalDeviceDriverProperties>();
    seen.driver = std::string(driver.driverName.data()) + " " + driver.driverInfo.data();
    facts.budget = has_extension(adapter, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
    std::tie(seen.total_bytes, seen.free_bytes) =
        seen.software ? std::pair(total_memory(), free_memory()) : memory_of(adapter, facts.budget);
    facts.queue_family = *compute_family(adapter);
    facts.ticks = ticks_of(adapter, facts.queue_family);
    facts.features = {
        .subgroup = int(chain.get<vk::PhysicalDeviceSubgroupProperties>().subgroupSize),
        .steady_subgroups = has_steady_subgroups(adapter),
        .most_invocations = int(properties.limits.maxComputeWorkGroupInvocations),
        .busy_subgroups = seen.software ? 8 : busy_subgroups(adapter)};
    facts.full_subgroups = full_subgroups_of(adapter, uint32_t(facts.features.subgroup));
    facts.dots = offers_dots(adapter);
    facts.features.integer_dots = facts.dots && !seen.software && does_dots_fast(adapter);
    facts.features.matrix_units = matrix_units_of(adapter, facts.features);
    seen.features = text_of(facts.features, seen.software);
    return facts;
}

VulkanAdapter listed(const std::string& name, const std::function<AdapterFacts()>& ask) {
    try {
        VulkanAdapter adapter = ask().adapter;
        adapter.free_bytes = left_of(adapter.free_bytes);
        return adapter;
    } catch (const std::exception& error) {
        return {.name = name,
                .missing = std::string("a driver that tells of it (") + error.what() + ")"};
    }
}

vk::raii::Device make_device(const vk::raii::PhysicalDevice& adapter, const AdapterFacts& facts) {
    const float priority = 1;
    const vk::DeviceQueueCreateInfo queue{
        .queueFamilyIndex = facts.queue_family, .queueCount = 1, .pQueuePriorities = &priority};
    vk::PhysicalDeviceVulkan12Features features12{.timelineSemaphore = true,
                                                  .bufferDeviceAddress = true};
    DotFeatures dots{.shaderIntegerDotProduct = true};
    const vk::PhysicalDeviceFeatures features{.shaderInt64 = true};
    std::vector<const char*> extensions;
    if (facts.dots) {
        extensions.push_back(VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME);
        features12.pNext = &dots;
    }
    vk::PhysicalDeviceCooperativeMatrixFeaturesNV matrices{.cooperativeMatrix = true};
    vk::PhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR control_flow{
        .pNext = &matrices, .shaderSubgroupUniformControlFlow = true};
    if (facts.features.matrix_units.variant == matrix_units_nv) {
        extensions.push_back(VK_NV_COOPERATIVE_MATRIX_EXTENSION_NAME);
        extensions.push_back(VK_KHR_SHADER_SUBGROUP_UNIFORM_CONTROL_FLOW_EXTENSION_NAME);
        features12.shaderFloat16 = true;
        features12.vulkanMemoryModel = true;
        matrices.pNext = std::exchange(features12.pNext, &control_flow);
    }
    SubgroupFeatures subgroups{.subgroupSizeControl = true, .computeFullSubgroups = true};
    if (facts.full_subgroups.invocations > 0) {
        extensions.push_back(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
        subgroups.pNext = std::exchange(features12.pNext, &subgroups);
    }
    if (facts.budget) extensions.push_back(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
    return {adapter,
            {.pNext = &features12,
             .queueCreateInfoCount = 1,
             .pQueueCreateInfos = &queue,
             .enabledExtensionCount = uint32_t(extensions.size()),
             .ppEnabledExtensionNames = extensions.data(),
             .pEnabledFeatures = &features}};
}

void rethrow(const std::string& device, const char* doing) {
    const std::string what = "device " + device + ": " + doing + ": ";
    try {
        throw;
    } catch (const vk::DeviceLostError&) {
        throw Error(what +
                    "the device was lost (the driver reset it, as some do where a step takes "
                    "seconds, or it was removed); run again, perhaps with smaller steps (-ub)");
    } catch (const vk::OutOfDeviceMemoryError&) {
        throw Error(what +
                    "out of device memory, perhaps because other programs use it; a smaller model, "
                    "a shorter context or more devices need less");
    } catch (const vk::OutOfHostMemoryError&) {
        throw Error(what +
                    "out of the host's memory; a smaller model or a shorter context needs less");
    } catch (const vk::SystemError& error) {
        throw Error(what + "the driver reports " + error.what());
    }
}

}  // namespace tandem::kernels::vulkan

namespace tandem::kernels {

VulkanAdapters vulkan_adapters() {
    using namespace vulkan;
    VulkanAdapters found;
    try {
        const Drivers drivers = open_drivers();
        std::set<Uuid> known;
        for (const auto& adapter : adapters_of(drivers.instance)) {
            found.list.push_back(listed(adapter.getProperties().deviceName.data(),
                                        [&] { return facts_of(adapter); }));
            VulkanAdapter& last = found.list.back();
            last.twin = last.missing.empty() && !known.insert(uuid_of(adapter)).second;
        }
    } catch (const std::exception& error) {
        found.list.clear();
        found.absence = error.what();
    }
    return found;
}

}  // namespace tandem::kernels
