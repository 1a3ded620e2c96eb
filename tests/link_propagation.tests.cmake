add_library(nearfield_link_propagation_tests STATIC EXCLUDE_FROM_ALL link_propagation/call.cpp link_propagation/text.cpp)
target_link_libraries(nearfield_link_propagation_tests PUBLIC nearfield_label_tests PRIVATE nearfield_flags GTest::gtest)

nearfield_test(link_propagation_host link_propagation/host_test.cpp link_propagation/arguments_test.cpp
  LIBS nearfield_link_propagation_tests)
if(NEARFIELD_HAS_CUDA)
  nearfield_test(link_propagation_device link_propagation/device_test.cpp exact/device_engine.cpp
    LIBS nearfield_link_propagation_tests CUDA::cudart_static)
endif()
