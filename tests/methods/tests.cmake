add_library(nearfield_method_tests STATIC EXCLUDE_FROM_ALL oracle/methods.cpp oracle/sweeps.cpp methods/engines.cpp)
target_link_libraries(nearfield_method_tests PUBLIC nearfield_exact_tests PRIVATE nearfield_flags GTest::gtest rapidcheck)
nearfield_test(methods
  methods/arguments_test.cpp methods/brushfire_test.cpp methods/chamfer_test.cpp methods/compare_test.cpp
  methods/jump_flood_test.cpp methods/progress_test.cpp methods/text_test.cpp
  LIBS nearfield_method_tests)
if(NEARFIELD_HAS_CUDA)
  nearfield_test(methods_device
    methods/device_test.cpp jump_flood/device_test.cpp banding/device_test.cpp plane_sweep/device_test.cpp methods/device_engine.cpp
    LIBS nearfield_method_tests nearfield_device_tests)
endif()
