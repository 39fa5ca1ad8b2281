# The sources of isa/ are compiled once per instruction set, each in a namespace of its own, and
# chosen at run time.
file(GLOB isa_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/kernels/cpu/isa/*.cpp)

# The objects of a set, kernels_cpu_NAME.
function(tandem_isa_objects name)
  set(library kernels_cpu_${name})
  add_library(${library} OBJECT ${isa_sources})
  target_include_directories(${library} PRIVATE ${CMAKE_BINARY_DIR}/include/kernels)
  target_compile_definitions(${library} PRIVATE TANDEM_ISA=${name})
  target_compile_options(${library} PRIVATE ${ARGN} -ffp-contract=fast -fno-math-errno)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12's own AVX-512 headers set these off.
    target_compile_options(${library} PRIVATE -Wno-uninitialized -Wno-maybe-uninitialized)
  endif()
  # Without optimisation the vector code is too slow to test.
  target_compile_options(${library} PRIVATE $<$<CONFIG:Debug>:-O1>)
endfunction()

function(tandem_isa name)
  tandem_isa_objects(${name} ${ARGN})
  target_sources(kernels PRIVATE $<TARGET_OBJECTS:kernels_cpu_${name}>)
endfunction()

tandem_isa(portable)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  tandem_isa(avx2 -mavx2 -mfma -mf16c)
  tandem_isa(avxvnni -mavx2 -mavxvnni -mfma -mf16c)
  set(avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni -mfma -mf16c)
  tandem_isa(avx512 ${avx512})
  tandem_isa(avx512bf16 ${avx512} -mavx512vbmi -mavx512bf16)
  set(amx ${avx512} -mavx512vbmi -mamx-tile -mamx-bf16)
  tandem_isa(amx ${amx})
endif()
