nearfield_test(pores pores/host_test.cpp LIBS nearfield_exact_tests)
