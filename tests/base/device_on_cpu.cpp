// For a compiler that knows no CUDA.
#include "base/device_test.cu"
