nearfield_test(natural_neighbor natural_neighbor/cases.cpp natural_neighbor/host_test.cpp LIBS nearfield_exact_tests)
if(NEARFIELD_HAS_CUDA)
  nearfield_test(natural_neighbor_device natural_neighbor/cases.cpp natural_neighbor/device_test.cpp
    LIBS nearfield_exact_tests nearfield_device_tests)
endif()
