# Warnings and the floating-point contract, as an interface target that our own targets link privately.
option(NEARFIELD_WERROR "Warnings of our own sources are errors" OFF)
if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(NEARFIELD_CCACHE ccache DOC "Compiler cache; empty to do without")
  if(NEARFIELD_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${NEARFIELD_CCACHE})
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${NEARFIELD_CCACHE})
  endif()
endif()

add_library(nearfield_flags INTERFACE)
# Contraction to fused multiply-add would make the last bit depend on the machine. Never fast-math.
target_compile_options(nearfield_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -ffp-contract=off>
  $<$<COMPILE_LANGUAGE:CUDA>:--fmad=false --expt-relaxed-constexpr -objtemp -Xcompiler=-Wall,-Wextra,-ffp-contract=off>)
# Kernels as small as nvcc packs them: files of the label room take a third to a quarter of the bytes. What reads them, the
# runtime of CUDA 13, needs a driver that unpacks them anyway.
if(NEARFIELD_HAS_CUDA AND CMAKE_CUDA_COMPILER_ID STREQUAL NVIDIA AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  target_compile_options(nearfield_flags INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:--compress-mode=size>)
endif()
# Ten minutes less, and kernels several times as slow.
option(NEARFIELD_QUICK_KERNELS "Compile kernels quickly, not well: where nothing can run them" OFF)
if(NEARFIELD_QUICK_KERNELS)
  target_compile_options(nearfield_flags INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-O1>)
  if(CMAKE_CUDA_COMPILER_ID STREQUAL NVIDIA AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    target_compile_options(nearfield_flags INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:--Ofast-compile=max>)
  endif()
endif()
# Loops are compiled for several kinds of vectors. SSSE3 gets what lies below it, the compiler's own (host_lanes.hpp); the
# sanitizers see these and one kind of Highway's: they take the longest to compile.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(not_compiled HWY_SSSE3)
  if(NEARFIELD_SANITIZE OR NEARFIELD_FUZZ)
    string(APPEND not_compiled "|HWY_SSE4|HWY_AVX3|HWY_AVX3_DL")
  endif()
  target_compile_options(nearfield_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-DHWY_DISABLED_TARGETS=${not_compiled}>)
endif()
# GCC 12 sees overlapping copies inside std::string where there are none (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(nearfield_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
# Programs that read strangers' files: stack and heap checks, and nothing of ours that another library's symbols could replace.
set(NEARFIELD_HARDENING -fvisibility=hidden -fvisibility-inlines-hidden)
# The sanitizers check more; with a stack protector GCC 12 lays AddressSanitizer's frames out without the alignment of vectors.
if(NOT NEARFIELD_SANITIZE AND NOT NEARFIELD_FUZZ)
  list(APPEND NEARFIELD_HARDENING -fstack-protector-strong -fstack-clash-protection)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(APPEND NEARFIELD_HARDENING -fcf-protection)
  endif()
  if(NOT CMAKE_BUILD_TYPE STREQUAL Debug)  # without optimisation it warns
    list(APPEND NEARFIELD_HARDENING -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
  endif()
endif()
list(JOIN NEARFIELD_HARDENING "," hardening_of_cuda)
target_compile_options(nearfield_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${NEARFIELD_HARDENING}>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${hardening_of_cuda}>)
# Source paths (assertions, std::source_location) are relative, so that two clones build the same bits. ccache knows the option,
# but not within -Xcompiler, where the path would keep clones from sharing their kernels; CCACHE_BASEDIR makes paths relative too.
# nvcc names its temporary files after the process unless they lie beside the object (-objtemp); their names end up in symbols,
# as does a number that nvcc makes of the source's path: kernels are the same bits at one path only.
set(prefix_map -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
target_compile_options(nearfield_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${prefix_map}>)
if(NOT CMAKE_CUDA_COMPILER_LAUNCHER OR NOT DEFINED ENV{CCACHE_BASEDIR})
  target_compile_options(nearfield_flags INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${prefix_map}>)
endif()
# What ELF linkers alone know: relocations that are read-only, and a list of what a library exports.
if(NOT WIN32 AND NOT APPLE)
  target_link_options(nearfield_flags INTERFACE LINKER:-z,relro,-z,now)
endif()
function(nearfield_export target map)
  if(NOT WIN32 AND NOT APPLE)
    target_link_options(${target} PRIVATE LINKER:--version-script=${map})
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${map})
  endif()
endfunction()
if(NEARFIELD_WERROR)
  target_compile_options(nearfield_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
if(NEARFIELD_SANITIZE)
  target_compile_options(nearfield_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${NEARFIELD_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all>)
  # AddressSanitizer hears of what these find; they take a third of the time to compile.
  if(NEARFIELD_SANITIZE MATCHES "undefined")
    target_compile_options(nearfield_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=null,object-size,vptr>)
  endif()
  target_link_options(nearfield_flags INTERFACE -fsanitize=${NEARFIELD_SANITIZE})
endif()
