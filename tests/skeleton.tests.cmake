nearfield_test(skeleton skeleton/cases.cpp skeleton/simple_test.cpp skeleton/host_test.cpp skeleton/graph_test.cpp LIBS nearfield_exact_tests)
