nearfield_test(plan plan/host_test.cpp)
if(NEARFIELD_HAS_CUDA)
  nearfield_test(plan_device plan/device_test.cpp LIBS nearfield_device_tests)
endif()
