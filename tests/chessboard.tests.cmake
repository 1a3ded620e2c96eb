nearfield_test(chessboard chessboard/cases.cpp chessboard/host_test.cpp LIBS nearfield_exact_tests)
if(NEARFIELD_HAS_CUDA)
  nearfield_test(chessboard_device chessboard/cases.cpp chessboard/device_test.cpp
    chessboard/few_sites_device_test.cpp LIBS nearfield_exact_tests nearfield_device_tests)
endif()
