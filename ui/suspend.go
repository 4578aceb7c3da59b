package ui

/*
#include <signal.h>
#include <unistd.h>

// stop_self stops this process as SIGTSTP does by default, and its whole job with it. It
// returns when the process runs again; at once where there is no shell that could do that.
// The others of the job are stopped while it is ignored here: stopped by that, too, this
// process would stop a second time once it goes on.
static void stop_self(int job) {
	struct sigaction ignored = { .sa_handler = SIG_IGN }, normal = { .sa_handler = SIG_DFL }, ours;
	sigaction(SIGTSTP, &ignored, &ours);
	if (job) kill(0, SIGTSTP);
	sigaction(SIGTSTP, &normal, 0);
	raise(SIGTSTP);
	sigaction(SIGTSTP, &ours, 0);
}

static void die_of(int sig) {
	signal(sig, SIG_DFL);
	raise(sig);
}
*/
import "C"

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	tea "charm.land/bubbletea/v2"
)

// What happened to the program from outside.
type (
	stopAsked struct{} // SIGTSTP
	stayed    struct{} // it was to stop, and runs
	resumed   struct{} // SIGCONT
)

// suspendJob stops the program and what runs with it, as Ctrl-Z does.
func (m *Model) suspendJob() tea.Cmd {
	m.tty.continued.Store(false)
	return m.suspend(true)
}

// suspend gives the terminal back and stops the program; with job its whole job. (C does
// it: Go does not give the default of SIGTSTP back once it was asked for.)
func (m *Model) suspend(job bool) tea.Cmd {
	if m.tty.screen == nil {
		return nil
	}
	// Where the whole job was told to stop, the shell has the terminal already; asking for its
	// modes then would stop this process on the way, and again later.
	signal.Ignore(syscall.SIGTTOU)
	m.tty.suspend()
	signal.Reset(syscall.SIGTTOU)
	all := C.int(0)
	if job {
		all = 1
	}
	return func() tea.Msg {
		if !m.tty.continued.Load() { // else the shell has called it back already
			C.stop_self(all)
		}
		return stayed{}
	}
}

// resume takes the terminal again. After SIGCONT that is done in any case: SIGSTOP comes
// without a word, and the shell has used the terminal since.
func (m *Model) resume(again bool) {
	if m.tty.screen != nil {
		if err := m.tty.resume(again); err != nil {
			m.err = err
		}
	}
}

// fatal are the signals whose default is a death with a core dump. Go's answer, a page of
// stacks, would go to a screen in raw mode.
var fatal = []os.Signal{syscall.SIGQUIT, syscall.SIGABRT}

// watchSignals tells the program of new sizes, of stops and of coming back from one. A fatal
// signal ends the process by itself, once the terminal is as it was.
func watchSignals(ctx context.Context, p *tea.Program, t *tty) (stop func()) {
	ch := make(chan os.Signal, 8)
	signal.Notify(ch, append(fatal, syscall.SIGWINCH, syscall.SIGCONT)...)
	if !signal.Ignored(syscall.SIGTSTP) {
		signal.Notify(ch, syscall.SIGTSTP)
	}
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case s := <-ch:
				t.signaled(p, s.(syscall.Signal))
			}
		}
	}()
	return func() { signal.Stop(ch); cancel() }
}

func (t *tty) signaled(p *tea.Program, s syscall.Signal) {
	switch s {
	case syscall.SIGTSTP:
		t.continued.Store(false)
		p.Send(stopAsked{})
		return
	case syscall.SIGCONT:
		t.continued.Store(true)
		p.Send(resumed{})
	case syscall.SIGQUIT, syscall.SIGABRT:
		t.suspend()
		C.die_of(C.int(s))
	}
	if w, h, err := t.terminal.size(); err == nil {
		p.Send(tea.WindowSizeMsg{Width: w, Height: h})
	}
}
