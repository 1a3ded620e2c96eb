nearfield_test(plane_sweep plane_sweep/host_test.cpp oracle/sweeps.cpp LIBS nearfield_method_tests)
