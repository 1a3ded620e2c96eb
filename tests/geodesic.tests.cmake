add_library(nearfield_geodesic_tests STATIC EXCLUDE_FROM_ALL geodesic/cases.cpp geodesic/dijkstra.cpp)
target_link_libraries(nearfield_geodesic_tests PUBLIC nearfield_exact_tests PRIVATE nearfield_flags)

nearfield_test(geodesic geodesic/host_test.cpp geodesic/path_test.cpp geodesic/path_floods_test.cpp
  geodesic/esdf_test.cpp geodesic/occupancy_map_test.cpp geodesic/roadmap_test.cpp
  LIBS nearfield_geodesic_tests)
if(NEARFIELD_HAS_CUDA)
  nearfield_test(geodesic_device geodesic/device_test.cpp geodesic/device_solvers_test.cpp
    geodesic/device_large_test.cpp geodesic/esdf_device_test.cpp
    LIBS nearfield_geodesic_tests nearfield_device_tests)
endif()
