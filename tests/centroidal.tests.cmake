nearfield_test(centroidal centroidal/cases.cpp centroidal/host_test.cpp centroidal/capacity_test.cpp
  centroidal/stipple_test.cpp LIBS nearfield_exact_tests)
if(NEARFIELD_HAS_CUDA)
  nearfield_test(centroidal_device centroidal/cases.cpp centroidal/device_test.cpp
    LIBS nearfield_exact_tests nearfield_device_tests)
endif()
