nearfield_test(chunks chunks/host_test.cpp LIBS nearfield_exact_tests)
if(NEARFIELD_HAS_CUDA)
  nearfield_test(chunks_device chunks/device_test.cpp LIBS nearfield_exact_tests nearfield_device_tests)
endif()
# The example compares what it computes with calls on the whole volume.
add_executable(example_chunks ${PROJECT_SOURCE_DIR}/examples/chunks.cpp)
target_link_libraries(example_chunks PRIVATE nearfield::nearfield nearfield_flags)
add_test(NAME example_chunks COMMAND example_chunks)
