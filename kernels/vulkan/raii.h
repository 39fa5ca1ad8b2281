// Vulkan-Hpp as this folder uses it: owners, errors as exceptions, the loader found at run time.
#pragma once

#define VULKAN_HPP_NO_STRUCT_CONSTRUCTORS
#include <vulkan/vulkan_raii.hpp>
