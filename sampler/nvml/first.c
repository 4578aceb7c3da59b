//go:build linux

// The thread that reads the memory sleeps nearly always and must wake in time, so it asks to
// go before others. What it is not allowed to have, it does without.

#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// struct sched_attr of linux/sched/types.h, which cannot be included beside sched.h.
struct attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

enum { BETTER = -10, RESET_ON_FORK = 1 };
#define SLICE 100000 // ns; the least. A short slice wakes early, from Linux 6.12 on and for anybody

static __thread enum { UNASKED, ASKED, FIRST } place;

// The Go runtime's monitor thread sleeps 20 us again and again while there is work, and takes the
// processor from each call of the driver that it meets twice: of 30 us, that is every one. With
// this slack (ns; the usual one is 50000) it looks twenty times less often, and calls shorter than
// a millisecond keep their processor. Threads have the slack of the one that made them, so it is
// set before Go makes any.
enum { SLACK = 1000000, PUNCTUAL = 1 };

__attribute__((constructor)) static void be_slack(void) { prctl(PR_SET_TIMERSLACK, SLACK); }

// go_first returns the thread if it has precedence over all ordinary ones, else 0. Who gave the
// program another place than the usual one, by nice or chrt, meant it.
int64_t go_first(void) {
	if (place == UNASKED) {
		place = ASKED;
		prctl(PR_SET_TIMERSLACK, PUNCTUAL);
		errno = 0;
		int nice = getpriority(PRIO_PROCESS, 0);
		if (errno || nice > 0 || sched_getscheduler(0) != SCHED_OTHER) return 0;
		struct attr a = { .size = sizeof a, .policy = SCHED_OTHER, .flags = RESET_ON_FORK, .nice = nice < BETTER ? nice : BETTER, .runtime = SLICE };
		if (syscall(SYS_sched_setattr, 0, &a, 0)) {
			a.nice = nice;
			syscall(SYS_sched_setattr, 0, &a, 0);
		}
		struct sched_param lowest = { .sched_priority = 1 };
		if (!sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &lowest)) place = FIRST;
	}
	return place == FIRST ? syscall(SYS_gettid) : 0;
}

// calm takes the precedence from a thread, if it had it.
void calm(int64_t thread) {
	struct sched_param none = { 0 };
	if (thread) sched_setscheduler((pid_t)thread, SCHED_OTHER | SCHED_RESET_ON_FORK, &none);
}

// give_way gives the precedence of this thread up for good: long calls would starve others.
void give_way(void) {
	if (place != FIRST) return;
	calm(syscall(SYS_gettid));
	place = ASKED;
}
