// NF_HD marks functions that host and device share. It is the library's only macro.
#pragma once

#ifdef __CUDACC__
#define NF_HD __host__ __device__
#else
#define NF_HD
#endif
