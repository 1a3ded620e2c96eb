nearfield_test(metrics metrics/cases.cpp metrics/host_test.cpp LIBS nearfield_exact_tests)
if(NEARFIELD_HAS_CUDA)
  nearfield_test(metrics_device metrics/cases.cpp metrics/device_test.cpp
    LIBS nearfield_exact_tests nearfield_device_tests)
endif()
