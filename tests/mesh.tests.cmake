add_library(nearfield_mesh_tests STATIC EXCLUDE_FROM_ALL mesh/shapes.cpp)
target_include_directories(nearfield_mesh_tests PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(nearfield_mesh_tests PUBLIC nearfield_exact_tests PRIVATE nearfield_flags)

nearfield_test(mesh mesh/host_test.cpp LIBS nearfield_mesh_tests)

nearfield_test(voxelize voxelize/host_test.cpp LIBS nearfield_mesh_tests)
nearfield_test(mesh_distance mesh_distance/cases.cpp mesh_distance/host_test.cpp LIBS nearfield_mesh_tests)
nearfield_test(isosurface isosurface/host_test.cpp LIBS nearfield_mesh_tests)
nearfield_test(offset offset/host_test.cpp LIBS nearfield_mesh_tests)
if(NEARFIELD_HAS_CUDA)
  nearfield_test(offset_device offset/device_test.cpp LIBS nearfield_mesh_tests nearfield_device_tests)
  nearfield_test(isosurface_device isosurface/device_test.cpp LIBS nearfield_mesh_tests nearfield_device_tests)
  nearfield_test(voxelize_device voxelize/device_test.cpp LIBS nearfield_mesh_tests nearfield_device_tests)
  nearfield_test(mesh_distance_device mesh_distance/cases.cpp mesh_distance/device_test.cpp
    LIBS nearfield_mesh_tests nearfield_device_tests)
endif()
