nearfield_test(fill fill/cases.cpp fill/host_test.cpp LIBS nearfield_exact_tests)
if(NEARFIELD_HAS_CUDA)
  nearfield_test(fill_device fill/cases.cpp fill/device_test.cpp
    LIBS nearfield_exact_tests nearfield_device_tests)
endif()
