add_library(nearfield_watershed_tests STATIC EXCLUDE_FROM_ALL watershed/cases.cpp watershed/split_cases.cpp
  oracle/watershed.cpp)
target_link_libraries(nearfield_watershed_tests PUBLIC nearfield_exact_tests PRIVATE nearfield_flags GTest::gtest)

nearfield_test(watershed watershed/host_test.cpp watershed/hierarchy_test.cpp watershed/split_test.cpp
  LIBS nearfield_watershed_tests)
if(NEARFIELD_HAS_CUDA)
  nearfield_test(watershed_device watershed/device_test.cpp watershed/kept_device_test.cpp
    LIBS nearfield_watershed_tests nearfield_device_tests)
endif()
