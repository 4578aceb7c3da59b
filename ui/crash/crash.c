// What happens when the driver library, or what it calls, crashes in this process. Go can turn a fault into a panic only where it
// is in Go's own code; of one in C it prints a page of stacks, on a screen in raw mode, and ends the process. All that is done here
// may be done by a signal handler (man 7 signal-safety).

#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <termios.h>
#include <ucontext.h>
#include <unistd.h>

extern char __executable_start, etext; // of the program, by the linker

static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL };
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

static void faulted(int sig, siginfo_t *info, void *context) {
	uintptr_t at = counter(context);
	struct sigaction *gos = before;
	for (int i = 0; i < FAULTS; i++)
		if (faults[i] == sig) gos = &before[i];
	if (info->si_code <= 0 || (at >= (uintptr_t)&__executable_start && at < (uintptr_t)&etext)) { // sent by somebody, or in our code
		gos->sa_sigaction(sig, info, context);
		return;
	}
	if (out >= 0) {
		ssize_t n = write(out, leave, leave_len);
		(void)n;
		tcsetattr(in, TCSANOW, &cooked);
	}
	say("nvpeak: the NVIDIA driver library has crashed in a call (");
	say(sig == SIGSEGV ? "SIGSEGV" : sig == SIGBUS ? "SIGBUS" : sig == SIGFPE ? "SIGFPE" : "SIGILL");
	say("); see what it says: sudo dmesg | grep -i nvrm\n");
	signal(sig, SIG_DFL); // the call faults again, and that ends the process as it should
}

void crash_watch(void) {
	struct sigaction ours = { .sa_sigaction = faulted, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART };
	sigfillset(&ours.sa_mask);
	for (int i = 0; i < FAULTS; i++) {
		sigaction(faults[i], NULL, &before[i]);
		if ((before[i].sa_flags & SA_SIGINFO) && before[i].sa_sigaction != faulted) sigaction(faults[i], &ours, NULL);
	}
}
