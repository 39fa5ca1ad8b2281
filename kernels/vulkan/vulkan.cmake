# Vulkan's headers and the shader compiler; the loader is looked for at run time.
find_path(TANDEM_VULKAN_HEADERS vulkan/vulkan_raii.hpp)
if(NOT TANDEM_VULKAN_HEADERS)
  message(FATAL_ERROR "vulkan/vulkan_raii.hpp is missing: install libvulkan-dev, or build without "
                      "Vulkan devices (-DTANDEM_VULKAN=OFF)")
endif()
include(cmake/shaders.cmake)
tandem_shaders(kernels FOLDER kernels/vulkan/shaders)
tandem_table(kernels TYPE VulkanKernel HEADER kernels/vulkan/site.h FOLDER kernels/vulkan/ops)
target_link_libraries(kernels PUBLIC ${CMAKE_DL_LIBS})
