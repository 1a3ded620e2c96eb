add_library(nearfield_thickness_tests STATIC EXCLUDE_FROM_ALL thickness/call.cpp oracle/balls.cpp)
target_link_libraries(nearfield_thickness_tests PUBLIC nearfield_exact_tests PRIVATE nearfield_flags GTest::gtest)

nearfield_test(thickness_host thickness/host_test.cpp thickness/arguments_test.cpp thickness/contained_test.cpp
  LIBS nearfield_thickness_tests)
if(NEARFIELD_HAS_CUDA)
  nearfield_test(thickness_device thickness/device_test.cpp
    LIBS nearfield_thickness_tests nearfield_device_tests)
endif()
