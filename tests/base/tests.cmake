nearfield_test(base base/every_call.cpp base/every_volume_call.cpp base/floats_test.cpp base/growth_test.cpp base/kept_test.cpp base/memory_test.cpp base/parallel_test.cpp base/unwritten_test.cpp
  base/processes_test.cpp)
# Loaded and unloaded by processes_test.cpp.
add_library(nearfield_test_plugin MODULE base/plugin.cpp)
target_link_libraries(nearfield_test_plugin PRIVATE nearfield::nearfield nearfield_flags)
target_compile_definitions(test_base PRIVATE NEARFIELD_TEST_PLUGIN="$<TARGET_FILE:nearfield_test_plugin>")
add_dependencies(test_base nearfield_test_plugin)
if(NEARFIELD_HAS_CUDA)
  nearfield_test(base_device base/device_test.cu LIBS CUDA::cudart_static)
endif()
