find_package(hwy REQUIRED)
add_library(nearfield_exact_tests STATIC EXCLUDE_FROM_ALL oracle/oracle.cpp oracle/steps.cpp exact/fills.cpp exact/guarded.cpp exact/call.cpp
  oracle/options.cpp exact/options_choice.cpp exact/options_call.cpp exact/options_case.cpp exact/options_verdict.cpp)
target_include_directories(nearfield_exact_tests PUBLIC ${PROJECT_SOURCE_DIR}/tests)
target_link_libraries(nearfield_exact_tests PUBLIC nearfield::nearfield PRIVATE nearfield_flags)

if(NOT NEARFIELD_SANITIZE)  # they have nothing of the library
  nearfield_test(oracle exact/oracle_test.cpp exact/options_oracle_test.cpp LIBS nearfield_exact_tests)
endif()
nearfield_test(exact_host
  exact/host_test.cpp exact/host_planes_test.cpp exact/arguments_test.cpp exact/property_test.cpp exact/large_test.cpp exact/simd_test.cpp
  exact/host_stop_test.cpp exact/no_device_test.cpp
  LIBS nearfield_exact_tests hwy::hwy)
nearfield_test(exact_options
  exact/bounds_test.cpp exact/host_lines_test.cpp exact/host_sides_test.cpp exact/memory_order_test.cpp exact/options_arguments_test.cpp exact/options_batch_test.cpp exact/options_identities_test.cpp
  exact/options_lines_test.cpp exact/options_plan_test.cpp exact/options_property_test.cpp exact/partial_test.cpp exact/same_spacing_test.cpp exact/short_axes_test.cpp exact/where_test.cpp
  LIBS nearfield_exact_tests)
if(NEARFIELD_HAS_CUDA)
  # What the device tests of all rooms share.
  add_library(nearfield_device_tests STATIC EXCLUDE_FROM_ALL exact/device_engine.cpp)
  target_link_libraries(nearfield_device_tests PUBLIC nearfield_exact_tests CUDA::cudart_static PRIVATE nearfield_flags)
  nearfield_test(exact_device
    exact/device_test.cpp exact/device_large_test.cpp
    exact/bounds_device_test.cpp exact/where_device_test.cpp exact/workspace_test.cpp exact/options_device_engine.cpp exact/options_device_test.cpp exact/options_values_test.cpp exact/options_smooth_test.cpp
    exact/options_wrapped_test.cpp exact/options_again_test.cpp exact/options_alone_test.cpp exact/lines_device_test.cpp exact/lines_plan_test.cpp exact/ladder_test.cpp exact/few_sites_test.cpp exact/options_sites_test.cpp exact/options_windows_test.cpp exact/options_far_test.cpp exact/counted_test.cpp exact/swept_sites_test.cpp exact/image_sites_test.cpp exact/small_volumes_test.cpp exact/far_volumes_test.cpp exact/long_sides_test.cpp
    exact/partial_device_test.cpp exact/posted_sites_test.cpp
    LIBS nearfield_exact_tests nearfield_device_tests)
  target_compile_definitions(test_exact_device PRIVATE NEARFIELD_ENGINE_MD="${PROJECT_SOURCE_DIR}/docs/engine.md")
  target_compile_definitions(test_exact_host PRIVATE NEARFIELD_TESTS_HAVE_CUDA=1)
endif()
