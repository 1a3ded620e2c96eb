# The device tests without a GPU: the device engine compiled as C++ over a stand-in for the CUDA runtime (include/). It finds
# errors of logic; races, memory order and times only a GPU shows.
#   cmake --build build/host --target test_exact_device_on_cpu && build/host/tests/test_exact_device_on_cpu
set(can_stand_in OFF)
if(CMAKE_SYSTEM_NAME STREQUAL Linux AND CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64 AND NOT NEARFIELD_SANITIZE AND NOT BUILD_SHARED_LIBS)
  set(can_stand_in ON)
endif()
set(test_by_default OFF)
if(can_stand_in AND NOT NEARFIELD_HAS_CUDA)
  set(test_by_default ON)
endif()
option(NEARFIELD_DEVICE_ON_CPU "Test the device engine on the CPU" ${test_by_default})
if(NOT can_stand_in)
  return()
endif()

set(here ${CMAKE_CURRENT_LIST_DIR})
set(engine ${CMAKE_CURRENT_BINARY_DIR}/on_cpu)
file(GLOB device_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/base/*.cu* ${PROJECT_SOURCE_DIR}/src/exact/*.cu*)
set(translated)
foreach(source IN LISTS device_sources)
  file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR}/src ${source})
  string(REGEX REPLACE "\\.cu$" ".cu.cpp" name ${name})
  list(APPEND translated ${engine}/${name})
endforeach()
set(as_cpp ${translated})
list(FILTER as_cpp INCLUDE REGEX "\\.cpp$")
add_custom_command(OUTPUT ${engine}/translated BYPRODUCTS ${translated}
  COMMAND ${CMAKE_COMMAND} -DFROM=${PROJECT_SOURCE_DIR}/src -DTO=${engine} -P ${here}/translate.cmake
  COMMAND ${CMAKE_COMMAND} -E touch ${engine}/translated
  DEPENDS ${device_sources} ${here}/translate.cmake VERBATIM)

set(tests device_test device_large_test device_engine workspace_test options_device_engine options_device_test options_tiles_test)
list(TRANSFORM tests PREPEND ${PROJECT_SOURCE_DIR}/tests/exact/)
list(TRANSFORM tests APPEND .cpp)
add_executable(test_exact_device_on_cpu ${engine}/translated ${as_cpp} ${here}/threads.cpp ${here}/runtime.cpp ${PROJECT_SOURCE_DIR}/src/base/system.cpp ${tests})
set_target_properties(test_exact_device_on_cpu PROPERTIES EXCLUDE_FROM_ALL $<NOT:$<BOOL:${NEARFIELD_DEVICE_ON_CPU}>>)
target_compile_definitions(test_exact_device_on_cpu PRIVATE NEARFIELD_HAS_CUDA=1 NEARFIELD_VERSION="${PROJECT_VERSION}")
# Before the folders of a toolkit and of the sources, whose files these stand for. Warnings are the GPU build's.
target_include_directories(test_exact_device_on_cpu BEFORE PRIVATE
  ${here}/include ${engine} ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
target_compile_options(test_exact_device_on_cpu PRIVATE -w -O1 -ffp-contract=off)
# What stands here is found before what the library has for a GPU or for having none.
target_link_libraries(test_exact_device_on_cpu PRIVATE nearfield_exact_tests nearfield::nearfield fmt::fmt GTest::gtest_main rapidcheck)

if(NEARFIELD_DEVICE_ON_CPU)
  # Half a minute of processor time. Of the rest one test must fail here: streams do not run beside the caller.
  add_test(NAME device_on_cpu COMMAND test_exact_device_on_cpu
    --gtest_filter=*DeviceSmall*:*DeviceMedium*x*:Device.AGraph*:Device.ShortWalk*:OptionsDevice.*Grids*-*40x41x43:*1025x3x5)
  set_tests_properties(device_on_cpu PROPERTIES LABELS exact_device_on_cpu TIMEOUT 600 ENVIRONMENT NEARFIELD_TEST_SCALE=0.02)
endif()
