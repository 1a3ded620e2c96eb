nearfield_test(morphology morphology/cases.cpp morphology/host_test.cpp LIBS nearfield_exact_tests)
if(NEARFIELD_HAS_CUDA)
  nearfield_test(morphology_device morphology/cases.cpp morphology/device_test.cpp
    LIBS nearfield_exact_tests nearfield_device_tests)
endif()
