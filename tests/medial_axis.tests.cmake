add_library(nearfield_medial_axis_tests STATIC EXCLUDE_FROM_ALL medial_axis/cases.cpp oracle/medial_axis.cpp)
target_link_libraries(nearfield_medial_axis_tests PUBLIC nearfield_components_tests PRIVATE nearfield_flags GTest::gtest)

nearfield_test(medial_axis medial_axis/host_test.cpp medial_axis/arguments_test.cpp LIBS nearfield_medial_axis_tests)
if(NEARFIELD_HAS_CUDA)
  nearfield_test(medial_axis_device medial_axis/device_test.cpp
    LIBS nearfield_medial_axis_tests nearfield_device_tests)
endif()
