// NF_HD marks mathematics that both backends share; the only macro of the library.
#pragma once

#ifdef __CUDACC__
#define NF_HD __host__ __device__
#else
#define NF_HD
#endif
