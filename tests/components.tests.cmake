add_library(nearfield_components_tests STATIC EXCLUDE_FROM_ALL components/cases.cpp oracle/measures.cpp)
target_link_libraries(nearfield_components_tests PUBLIC nearfield_label_tests PRIVATE nearfield_flags)

nearfield_test(components components/sums_test.cpp components/host_test.cpp components/arguments_test.cpp components/measures_test.cpp components/trust_test.cpp
  LIBS nearfield_components_tests)
if(NEARFIELD_HAS_CUDA)
  nearfield_test(components_device components/device_test.cpp
    LIBS nearfield_components_tests nearfield_device_tests)
  target_compile_definitions(test_components PRIVATE NEARFIELD_TESTS_HAVE_CUDA=1)
endif()
nearfield_test(mutation components/mutation_test.cpp LIBS nearfield_exact_tests)
