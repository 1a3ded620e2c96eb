if(NEARFIELD_HAS_CUDA)
  nearfield_test(toolchain_device toolchain/device_test.cu LIBS CUDA::cudart_static)
endif()
