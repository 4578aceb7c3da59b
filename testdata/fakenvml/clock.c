/* clock.so: a clock that only sleeping moves. Loaded with LD_PRELOAD it is that of all C code: what nvpeak's sweep and
 * the fake driver read is exact, and a second of sleep takes no time. Go has its own way to the kernel's clock.
 *
 * CLOCK_LATE=FROM,TO,BY (ns since the start): sleeps that end from FROM to TO end that much later. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SECOND 1000000000LL
#define START (1000 * SECOND)

static int64_t now = START, from, to, by;

__attribute__((constructor)) static void init(void)
{
	const char *late = getenv("CLOCK_LATE");
	long long a, b, c;
	if (late && sscanf(late, "%lld,%lld,%lld", &a, &b, &c) == 3)
		from = START + a, to = START + b, by = c;
}

static int wait_until(int64_t end)
{
	if (end >= from && end < to) end += by;
	if (end > __atomic_load_n(&now, __ATOMIC_SEQ_CST)) __atomic_store_n(&now, end, __ATOMIC_SEQ_CST);
	return 0;
}

int clock_gettime(clockid_t id, struct timespec *t)
{
	(void)id;
	int64_t ns = __atomic_load_n(&now, __ATOMIC_SEQ_CST);
	*t = (struct timespec){ns / SECOND, ns % SECOND};
	return 0;
}

int clock_nanosleep(clockid_t id, int flags, const struct timespec *t, struct timespec *rest)
{
	(void)id, (void)rest;
	int64_t ns = t->tv_sec * SECOND + t->tv_nsec;
	return wait_until(flags & TIMER_ABSTIME ? ns : __atomic_load_n(&now, __ATOMIC_SEQ_CST) + ns);
}

int nanosleep(const struct timespec *t, struct timespec *rest) { return clock_nanosleep(CLOCK_MONOTONIC, 0, t, rest); }
