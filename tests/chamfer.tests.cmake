nearfield_test(chamfer chamfer/host_test.cpp chamfer/arguments_test.cpp LIBS nearfield_exact_tests)
