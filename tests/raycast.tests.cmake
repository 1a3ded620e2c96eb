nearfield_test(raycast raycast/cases.cpp raycast/host_test.cpp LIBS nearfield_exact_tests)
if(NEARFIELD_HAS_CUDA)
  nearfield_test(raycast_device raycast/cases.cpp raycast/device_test.cpp
    LIBS nearfield_exact_tests nearfield_device_tests)
endif()
