/* A wall clock that jumps, for tests of what depends on the time of day.
 *
 * Build:  cc -shared -fPIC -O1 -o clock_shim.so clock_shim.c -ldl
 * Use:    LD_PRELOAD=./clock_shim.so CLOCK_JUMP=SECONDS CLOCK_EVERY=READINGS program
 *
 * After every READINGS readings of CLOCK_REALTIME the clock goes SECONDS ahead of the real one, or
 * back to it, in turns; SECONDS may be negative. Other clocks are left alone: CLOCK_MONOTONIC never
 * jumps.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

static atomic_ulong readings;

static long number(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text ? atol(text) : otherwise;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    static int (*real)(clockid_t, struct timespec *);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, time);
    if (result == 0 && clock == CLOCK_REALTIME) {
        long every = number("CLOCK_EVERY", 1);
        unsigned long jumps = atomic_fetch_add(&readings, 1) / (every > 0 ? every : 1);
        if (jumps % 2 == 1)
            time->tv_sec += number("CLOCK_JUMP", 0);
    }
    return result;
}
