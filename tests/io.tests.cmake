find_package(fmt REQUIRED)
nearfield_test(io io/roundtrip.cpp io/hostile.cpp io/meaning.cpp io/paths.cpp LIBS nearfield_io)
target_compile_definitions(test_io PRIVATE NEARFIELD_CORPUS="${PROJECT_SOURCE_DIR}/fuzz/corpus")

# The same files through numpy, Pillow, tifffile and nibabel, when NEARFIELD_PYTHON is a Python that has them.
add_executable(io_peer io/peer.cpp)
target_link_libraries(io_peer PRIVATE nearfield_io nearfield_flags fmt::fmt)
add_test(NAME io_python COMMAND ${CMAKE_COMMAND} -E env "NEARFIELD_PYTHON=${NEARFIELD_PYTHON}"
  sh ${CMAKE_CURRENT_SOURCE_DIR}/io/peers.sh ${CMAKE_CURRENT_SOURCE_DIR}/io/peers.py $<TARGET_FILE:io_peer>)
add_test(NAME io_pictures COMMAND ${CMAKE_COMMAND} -E env "NEARFIELD_PYTHON=${NEARFIELD_PYTHON}"
  sh ${CMAKE_CURRENT_SOURCE_DIR}/io/peers.sh ${CMAKE_CURRENT_SOURCE_DIR}/io/peers_pictures.py $<TARGET_FILE:io_peer>)
set_tests_properties(io_python io_pictures PROPERTIES LABELS io SKIP_RETURN_CODE 77 TIMEOUT 600)
