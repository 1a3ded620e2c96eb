nearfield_test(banding banding/host_test.cpp LIBS nearfield_method_tests)
