nearfield_test(skeleton skeleton/cases.cpp skeleton/simple_test.cpp skeleton/host_test.cpp skeleton/graph_test.cpp LIBS nearfield_exact_tests)
if(NEARFIELD_HAS_CUDA)
  nearfield_test(skeleton_device skeleton/cases.cpp skeleton/device_test.cpp
    LIBS nearfield_exact_tests nearfield_device_tests)
endif()
