add_library(nearfield_label_tests STATIC EXCLUDE_FROM_ALL label/call.cpp label/traps.cpp oracle/components.cpp oracle/tables.cpp)
target_link_libraries(nearfield_label_tests PUBLIC nearfield_exact_tests PRIVATE nearfield_flags)

nearfield_test(label_host label/host_test.cpp label/traps_host_test.cpp label/arguments_test.cpp label/tables_test.cpp label/workspace_test.cpp LIBS nearfield_label_tests)
if(NEARFIELD_HAS_CUDA)
  nearfield_test(label_device label/device_test.cpp label/device_links_test.cpp label/traps_device_test.cpp label/device_runs_test.cpp label/device_tables_test.cpp label/device_engine.cpp
    LIBS nearfield_label_tests nearfield_device_tests)
endif()
