package child

/*
#include <errno.h>
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

static volatile pid_t target;  // who gets the signals
static volatile unsigned early; // those that came before it was known
static volatile int interrupted; // by the terminal
static volatile int asked;       // the first signal that asked for an end
static volatile int all;       // also those of the kernel: the target is not of our job

// pass_on runs in whatever thread the signal comes to. What the terminal sends, it has sent to the
// command as well; only what a process sends is for nvpeak alone.
static void pass_on(int sig, siginfo_t *info, void *context) {
	int before = errno;
	if (sig == SIGINT && info->si_code > 0) interrupted = 1;
	if (!asked && (sig == SIGHUP || sig == SIGINT || sig == SIGQUIT || sig == SIGTERM)) asked = sig;
	if (target == 0) early |= 1u << sig;
	if (target > 0 && (all || info->si_code <= 0) && info->si_pid != target) kill(target, sig);
	errno = before;
}

static void pass_signals(pid_t to, int every) {
	target = to;
	all = every;
}

// pass_early sends what came too early to the whole job, as the terminal would have.
static void pass_early(void) {
	for (int sig = 1; sig < 32; sig++)
		if (target > 0 && early >> sig & 1) kill(-target, sig);
	early = 0;
}

static void take_signal(int sig) {
	struct sigaction ours = { .sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART };
	sigfillset(&ours.sa_mask);
	sigaction(sig, &ours, 0);
}

// keep_signals lets a signal do no more than be noted, and Ctrl-Z what it does by default: the command has
// ended, and its pid may be another's soon.
static void keep_signals(int stops) {
	target = 0;
	if (all && stops) signal(SIGTSTP, SIG_DFL);
}

static void note_interrupt(void) {
	interrupted = 1;
	if (!asked) asked = SIGINT;
}

static int asked_to_end(void) { return asked; }

// The terminal has sent Ctrl-C to us before the command died of it, but it may still wait for the thread that it was
// given to: letting it through anew makes this thread take it.
static void take_interrupt(void) {
	sigset_t one, before;
	sigemptyset(&one);
	sigaddset(&one, SIGINT);
	pthread_sigmask(SIG_BLOCK, &one, &before);
	pthread_sigmask(SIG_SETMASK, &before, 0);
}

static void die_of_interrupt(void) {
	take_interrupt();
	if (!interrupted) return;
	signal(SIGINT, SIG_DFL);
	raise(SIGINT);
}

// stop_job stops this process by the default of SIGTSTP, and before it the others of its job. It
// returns when the process goes on; at once where no shell could let it go on.
static void stop_job(void) {
	struct sigaction ignored = { .sa_handler = SIG_IGN }, normal = { .sa_handler = SIG_DFL }, ours;
	sigaction(SIGTSTP, &ignored, &ours);
	kill(0, SIGTSTP);
	sigaction(SIGTSTP, &normal, 0);
	raise(SIGTSTP);
	sigaction(SIGTSTP, &ours, 0);
}
*/
import "C"

import "syscall"

// passed are the signals that go on to the command.
var passed = []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM}

// passSignals sends what comes from now on to a process, in C because Go does not tell who sent a signal.
// apart: the process does not get what the kernel sends to our job. Until it is known, signals wait for nobody:
// they are lost as they would be for a command that is not started yet.
func passSignals(pid int, apart bool) {
	every := C.int(0)
	list := passed
	if apart {
		every = 1
		list = append(list[:len(list):len(list)], syscall.SIGTSTP)
	}
	C.pass_signals(C.pid_t(pid), every)
	for _, s := range list {
		if !wasIgnored(s) {
			C.take_signal(C.int(s))
		}
	}
}

// holdSignals keeps signals for a command that is about to be started; passEarly sends them, once passSignals has named it.
func holdSignals() { passSignals(0, true) }

func passEarly() { C.pass_early() }

// keepSignals passes nothing on any more.
func keepSignals() {
	stops := C.int(1)
	if wasIgnored(syscall.SIGTSTP) {
		stops = 0
	}
	C.keep_signals(stops)
}

// Asked is the first signal that asked nvpeak or a command that it has run to end, from whomever; 0: none did.
// Signals come here from the first Run on, also between two.
func Asked() syscall.Signal { return syscall.Signal(C.asked_to_end()) }

// Interrupted notes that Ctrl-C was typed where no command and no kernel has seen it.
func Interrupted() { noteInterrupt() }

// stopJob stops nvpeak and its job until it goes on.
func stopJob() { C.stop_job() }

// controlC is the key that interrupts.
const controlC = 3

func noteInterrupt() { C.note_interrupt() }

// Interrupt ends the process as the command ended when Ctrl-C has killed it: a shell goes on with its list or
// loop after an exit code, also 130, and stops after a death.
func Interrupt(code int) {
	if code == codeSignal+int(syscall.SIGINT) {
		C.die_of_interrupt()
	}
}
