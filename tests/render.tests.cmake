nearfield_test(render render/cases.cpp render/host_test.cpp LIBS nearfield_exact_tests)
if(NEARFIELD_HAS_CUDA)
  nearfield_test(render_device render/cases.cpp render/device_test.cpp
    LIBS nearfield_exact_tests nearfield_device_tests)
endif()
