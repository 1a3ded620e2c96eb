# Sets NEARFIELD_HAS_CUDA and enables the language when kernels are wanted and can be compiled.
#   ON    kernels for CMAKE_CUDA_ARCHITECTURES, by default for every GPU since Turing: what a package for others needs
#   AUTO  kernels for the GPU of this machine, or for CMAKE_CUDA_ARCHITECTURES where it is given; without a GPU and without it
#         none, since they would take minutes to compile and nothing here could run them
set(NEARFIELD_HAS_CUDA OFF)
if(NEARFIELD_CUDA STREQUAL "OFF")
  set(nearfield_why_no_cuda "it was configured with NEARFIELD_CUDA=OFF")
  return()
endif()

include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  if(NEARFIELD_CUDA STREQUAL "ON")
    message(FATAL_ERROR "NEARFIELD_CUDA=ON but no CUDA compiler was found; install the CUDA toolkit, set CUDACXX to its nvcc, or use NEARFIELD_CUDA=AUTO")
  endif()
  set(nearfield_why_no_cuda "there was no CUDA compiler where it was built")
  return()
endif()
if(NEARFIELD_CUDA STREQUAL "AUTO" AND NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
    RESULT_VARIABLE status OUTPUT_VARIABLE capability ERROR_QUIET)
  if(NOT status EQUAL 0)
    set(capability "")  # a driver that does not start says so, with its version
  endif()
  string(REGEX MATCHALL "[0-9]+\\.[0-9]" capability "${capability}")
  list(FILTER capability EXCLUDE REGEX "^([1-6]\\.|7\\.[0-4])")
  list(TRANSFORM capability REPLACE "\\." "")
  list(TRANSFORM capability APPEND "-real")
  list(REMOVE_DUPLICATES capability)
  if(NOT capability)
    set(nearfield_why_no_cuda "there was no NVIDIA GPU of compute capability 7.5 or later where it was built, and NEARFIELD_CUDA=ON was not given")
    return()
  endif()
  set(CMAKE_CUDA_ARCHITECTURES ${capability} CACHE STRING "CUDA architectures")
endif()

# An explicit list: `native` fails where there is no GPU. PTX of the newest runs on GPUs still to come.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 86-real 89-real 90-real 100-real 120 CACHE STRING "CUDA architectures")
endif()
foreach(architecture IN LISTS CMAKE_CUDA_ARCHITECTURES)
  if(architecture MATCHES "^([1-6][0-9]|70|72)(-|$)")
    message(FATAL_ERROR "CMAKE_CUDA_ARCHITECTURES has ${architecture}; kernels need compute capability 7.5 or later: give 75 or more, or NEARFIELD_CUDA=OFF")
  endif()
endforeach()
# The runtime is linked statically, so that one binary also starts on a machine without a driver.
set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
enable_language(CUDA)
# CMake before 3.25.2 does not know that nvcc 12 and later compile C++20.
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
find_package(CUDAToolkit REQUIRED)
set(NEARFIELD_HAS_CUDA ON)
