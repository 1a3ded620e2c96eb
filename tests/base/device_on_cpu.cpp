// Compiles the device test with a compiler that knows no CUDA.
#include "base/device_test.cu"
