// What GCC 12's library takes from glibc 2.30 to 2.36, for programs that run with 2.28.
#include <pthread.h>
#include <stdint.h>
#include <sys/random.h>
#include <sys/single_threaded.h>
#include <time.h>

// Reference counts are always atomic.
char __libc_single_threaded = 0;

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* until) {
    enum { second = 1000000000 };
    struct timespec now, end;
    clock_gettime(clock, &now);
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += until->tv_sec - now.tv_sec;
    end.tv_nsec += until->tv_nsec - now.tv_nsec;
    if (end.tv_nsec < 0) --end.tv_sec, end.tv_nsec += second;
    if (end.tv_nsec >= second) ++end.tv_sec, end.tv_nsec -= second;
    return pthread_cond_timedwait(condition, mutex, &end);
}

uint32_t arc4random(void) {
    uint32_t bits;
    while (getrandom(&bits, sizeof bits, 0) != sizeof bits) {
    }
    return bits;
}
