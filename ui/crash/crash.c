// What happens when the driver library, or what it calls, crashes in this process, or ends it. Go can turn a fault into a panic only where it
// is in Go's own code; of one in C it prints a page of stacks, on a screen in raw mode, and ends the process. All that is done here
// may be done by a signal handler (man 7 signal-safety).

#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <ucontext.h>
#include <unistd.h>

extern char __executable_start, etext; // of the program, by the linker

static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
enum { FAULTS = sizeof faults / sizeof *faults };
static struct sigaction before[FAULTS]; // Go's handlers

// The terminal as it is to be given back; out < 0: none was taken.
static struct termios cooked;
static char leave[512];
static size_t leave_len;
static volatile int in = -1, out = -1;

void crash_terminal(int in_fd, int out_fd, const unsigned char *text, size_t len, const struct termios *modes) {
	out = -1;
	if (len > sizeof leave) return;
	memcpy(leave, text, len);
	leave_len = len, cooked = *modes, in = in_fd, out = out_fd;
}

void crash_no_terminal(void) { out = -1; }

// Where it is told that a thread has crashed and was stopped; < 0: a crash ends the program.
static volatile int told = -1;

int crash_survive(void) {
	int ends[2];
	if (pipe2(ends, O_CLOEXEC)) return -1;
	told = ends[1];
	return ends[0];
}

static uintptr_t counter(const ucontext_t *c) {
#if defined(__x86_64__)
	return c->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	return c->uc_mcontext.pc;
#else
	return (uintptr_t)&__executable_start; // not known: Go's to tell
#endif
}

static void say(const char *text) {
	ssize_t n = write(2, text, strlen(text));
	(void)n;
}

// theirs says whether it is C code of others that faults: not what was sent by somebody, nor what is in our own code.
static bool theirs(int sig, const siginfo_t *info, uintptr_t at) {
	bool raised = info->si_code == SI_TKILL && info->si_pid == getpid(); // as abort() does, and handlers of others that pass it on
	return (raised || info->si_code > 0) && (at < (uintptr_t)&__executable_start || at >= (uintptr_t)&etext);
}

static void give_back(void) {
	if (out < 0) return;
	ssize_t n = write(out, leave, leave_len);
	(void)n;
	tcsetattr(in, TCSANOW, &cooked);
}

// stop makes a call that crashes one that hangs, where that is wanted: 0 for one that calls exit().
static void stop(unsigned char sig) {
	if (told < 0) return;
	ssize_t n = write(told, &sig, 1);
	(void)n;
	for (;;) pause();
}

// ended runs when C code calls exit(). Go ends the program without it, so only code of others does, but for the race detector.
static void ended(void) {
	stop(0);
	give_back();
	say("nvpeak: the NVIDIA driver library has crashed in a call (exit); see what it says: sudo dmesg | grep -i nvrm\n");
	_exit(1);
}

static void faulted(int sig, siginfo_t *info, void *context) {
	struct sigaction *gos = before;
	for (int i = 0; i < FAULTS; i++)
		if (faults[i] == sig) gos = &before[i];
	if (!theirs(sig, info, counter(context))) {
		if (info->si_code <= 0 && sig != SIGABRT) give_back(); // it ends the program; of SIGABRT somebody takes care
		gos->sa_sigaction(sig, info, context);
		return;
	}
	stop(sig);
	give_back();
	say("nvpeak: the NVIDIA driver library has crashed in a call (");
	say(sig == SIGSEGV ? "SIGSEGV" : sig == SIGBUS ? "SIGBUS" : sig == SIGFPE ? "SIGFPE" : sig == SIGILL ? "SIGILL" : "SIGABRT");
	say("); see what it says: sudo dmesg | grep -i nvrm\n");
	signal(sig, SIG_DFL); // the call faults, or aborts, again, and that ends the process as it should
	if (info->si_code <= 0) raise(sig); // what was raised does not come again by itself
}

void crash_watch(bool exits) {
	struct sigaction ours = { .sa_sigaction = faulted, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART };
	sigfillset(&ours.sa_mask);
	if (exits) atexit(ended);
	for (int i = 0; i < FAULTS; i++) {
		sigaction(faults[i], NULL, &before[i]);
		if ((before[i].sa_flags & SA_SIGINFO) && before[i].sa_sigaction != faulted) sigaction(faults[i], &ours, NULL);
	}
}
