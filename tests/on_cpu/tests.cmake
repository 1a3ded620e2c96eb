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
file(GLOB_RECURSE device_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cu*)
list(FILTER device_sources EXCLUDE REGEX "/src/edge/")
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

# All rooms' kernels, compiled once. What stands here is found before what the library has for a GPU or for having none.
add_library(nearfield_on_cpu OBJECT EXCLUDE_FROM_ALL ${engine}/translated ${as_cpp} ${here}/threads.cpp ${here}/runtime.cpp
  ${PROJECT_SOURCE_DIR}/src/base/system.cpp)
target_compile_definitions(nearfield_on_cpu PUBLIC NEARFIELD_HAS_CUDA=1 NEARFIELD_VERSION="${PROJECT_VERSION}")
# Before the folders of a toolkit and of the sources, whose files these stand for. Warnings are the GPU build's.
target_include_directories(nearfield_on_cpu BEFORE PUBLIC
  ${here}/include ${engine} ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
target_compile_options(nearfield_on_cpu PUBLIC -w -O1 -ffp-contract=off)
target_link_libraries(nearfield_on_cpu PUBLIC nearfield::nearfield fmt::fmt GTest::gtest rapidcheck)

# A room's program: nearfield_on_cpu_test(room, its tests, the library that they share).
function(nearfield_on_cpu_test room tests shared)
  set(program test_${room}_device_on_cpu)
  list(TRANSFORM tests PREPEND ${PROJECT_SOURCE_DIR}/tests/)
  list(TRANSFORM tests APPEND .cpp)
  add_executable(${program} ${tests})
  set_target_properties(${program} PROPERTIES EXCLUDE_FROM_ALL $<NOT:$<BOOL:${NEARFIELD_DEVICE_ON_CPU}>>)
  target_link_libraries(${program} PRIVATE nearfield_on_cpu ${shared} GTest::gtest_main)
endfunction()
set(of_exact device_test device_large_test device_engine workspace_test options_device_engine options_device_test options_values_test options_wrapped_test
  options_alone_test lines_device_test ladder_test options_sites_test options_windows_test options_far_test counted_test near_sites_test swept_sites_test close_device_test small_volumes_test far_volumes_test posted_sites_test)
list(TRANSFORM of_exact PREPEND exact/)
nearfield_on_cpu_test(exact "${of_exact}" nearfield_exact_tests)
target_compile_definitions(test_exact_device_on_cpu PRIVATE NEARFIELD_ENGINE_MD="${PROJECT_SOURCE_DIR}/docs/engine.md")
nearfield_on_cpu_test(base base/device_on_cpu nearfield::nearfield)
set(of_label exact/device_engine label/device_engine label/device_test label/device_links_test label/traps_device_test label/device_runs_test label/device_tables_test)
nearfield_on_cpu_test(label "${of_label}" nearfield_label_tests)
nearfield_on_cpu_test(components "exact/device_engine;components/device_test" nearfield_components_tests)
nearfield_on_cpu_test(link_propagation "exact/device_engine;link_propagation/device_test" nearfield_link_propagation_tests)
nearfield_on_cpu_test(morphology "exact/device_engine;morphology/cases;morphology/device_test" nearfield_exact_tests)
nearfield_on_cpu_test(medial_axis "exact/device_engine;medial_axis/device_test" nearfield_medial_axis_tests)
nearfield_on_cpu_test(skeleton "exact/device_engine;skeleton/cases;skeleton/device_test" nearfield_exact_tests)
nearfield_on_cpu_test(fill "exact/device_engine;fill/cases;fill/device_test" nearfield_exact_tests)
nearfield_on_cpu_test(natural_neighbor "exact/device_engine;natural_neighbor/cases;natural_neighbor/device_test" nearfield_exact_tests)
nearfield_on_cpu_test(thickness "exact/device_engine;thickness/device_test" nearfield_thickness_tests)
nearfield_on_cpu_test(watershed "exact/device_engine;watershed/device_test" nearfield_watershed_tests)
set(of_methods exact/device_engine methods/device_engine methods/device_test jump_flood/device_test banding/device_test plane_sweep/device_test)
nearfield_on_cpu_test(methods "${of_methods}" nearfield_method_tests)

if(NEARFIELD_DEVICE_ON_CPU)
  # Half a minute of processor time. Of the rest one test must fail here: streams do not run beside the caller.
  add_test(NAME device_on_cpu COMMAND test_exact_device_on_cpu
    --gtest_filter=*DeviceSmall*:*DeviceMedium*x*:Device.AGraph*:Device.ShortWalk*:Device.SitesOf*:OptionsDevice.*Grids*:OptionsWrapped.*:OptionsAlone.*:DeviceLines*:*Ladder*:Counted.*:OptionsSites.*:*OptionsWindows.*-*40x41x43:*1025x3x5)
  set_tests_properties(device_on_cpu PROPERTIES LABELS exact_device_on_cpu TIMEOUT 600 ENVIRONMENT NEARFIELD_TEST_SCALE=0.02)
  # What older GPUs do with small images.
  add_test(NAME device_on_cpu_without_clusters COMMAND test_exact_device_on_cpu --gtest_filter=*DeviceSmall*:Device.AGraph*)
  set_tests_properties(device_on_cpu_without_clusters PROPERTIES LABELS exact_device_on_cpu TIMEOUT 600
    ENVIRONMENT "NEARFIELD_TEST_SCALE=0.02;NEARFIELD_ON_CPU_PTX=80")
  add_test(NAME base_device_on_cpu COMMAND test_base_device_on_cpu)
  set_tests_properties(base_device_on_cpu PROPERTIES LABELS base_device_on_cpu TIMEOUT 60)
  add_test(NAME components_device_on_cpu COMMAND test_components_device_on_cpu --gtest_filter=-*TwentyRuns*)
  set_tests_properties(components_device_on_cpu PROPERTIES LABELS components_device_on_cpu TIMEOUT 600)
  add_test(NAME label_device_on_cpu COMMAND test_label_device_on_cpu --gtest_filter=-*HundredsOf*:*TwoToThe31*:*TwentyRunsOf*)
  set_tests_properties(label_device_on_cpu PROPERTIES LABELS label_device_on_cpu TIMEOUT 600 ENVIRONMENT NEARFIELD_TEST_SCALE=0.1)
  add_test(NAME link_propagation_device_on_cpu COMMAND test_link_propagation_device_on_cpu --gtest_filter=-*HilbertCurve:*ManyMasters:*TwentyRuns*)
  set_tests_properties(link_propagation_device_on_cpu PROPERTIES LABELS link_propagation_device_on_cpu TIMEOUT 600 ENVIRONMENT NEARFIELD_TEST_SCALE=0.1)
  add_test(NAME morphology_device_on_cpu COMMAND test_morphology_device_on_cpu --gtest_filter=-*Larger*)
  set_tests_properties(morphology_device_on_cpu PROPERTIES LABELS morphology_device_on_cpu TIMEOUT 600)
  add_test(NAME medial_axis_device_on_cpu COMMAND test_medial_axis_device_on_cpu)
  set_tests_properties(medial_axis_device_on_cpu PROPERTIES LABELS medial_axis_device_on_cpu TIMEOUT 600 ENVIRONMENT NEARFIELD_TEST_SCALE=0.05)
  add_test(NAME skeleton_device_on_cpu COMMAND test_skeleton_device_on_cpu --gtest_filter=-*Larger*:*TwentyRuns*)
  set_tests_properties(skeleton_device_on_cpu PROPERTIES LABELS skeleton_device_on_cpu TIMEOUT 600)
  # Blocks that meet.
  add_test(NAME skeleton_device_on_cpu_together COMMAND test_skeleton_device_on_cpu --gtest_filter=*Blobs*:*Unusual*:*DistancesOf*)
  set_tests_properties(skeleton_device_on_cpu_together PROPERTIES LABELS skeleton_device_on_cpu TIMEOUT 600
    ENVIRONMENT NEARFIELD_ON_CPU_BLOCKS=3)
  add_test(NAME natural_neighbor_device_on_cpu COMMAND test_natural_neighbor_device_on_cpu)
  set_tests_properties(natural_neighbor_device_on_cpu PROPERTIES LABELS natural_neighbor_device_on_cpu TIMEOUT 600)
  add_test(NAME fill_device_on_cpu COMMAND test_fill_device_on_cpu)
  set_tests_properties(fill_device_on_cpu PROPERTIES LABELS fill_device_on_cpu TIMEOUT 600)
  add_test(NAME thickness_device_on_cpu COMMAND test_thickness_device_on_cpu --gtest_filter=-*Larger*:*TwentyRuns*)
  set_tests_properties(thickness_device_on_cpu PROPERTIES LABELS thickness_device_on_cpu TIMEOUT 600 ENVIRONMENT NEARFIELD_TEST_SCALE=0.05)
  add_test(NAME watershed_device_on_cpu COMMAND test_watershed_device_on_cpu --gtest_filter=-*TwentyRuns*)
  set_tests_properties(watershed_device_on_cpu PROPERTIES LABELS watershed_device_on_cpu TIMEOUT 600)
  add_test(NAME methods_device_on_cpu COMMAND test_methods_device_on_cpu --gtest_filter=-*Larger*)
  set_tests_properties(methods_device_on_cpu PROPERTIES LABELS methods_device_on_cpu TIMEOUT 600 ENVIRONMENT NEARFIELD_TEST_SCALE=0.1)
endif()
