package child

import (
	"io"
	"os"
	"syscall"
)

// RelayName is the name under which nvpeak starts itself as a relay: see Relay.
const RelayName = "nvpeak-relay"

// Relay passes on what is still printed to a pipe of a command that has ended, by what it left in the background:
// from standard input to standard output, until all have closed their end or the reader has gone.
func Relay() (code int) {
	io.Copy(os.Stdout, os.Stdin) //nolint:errcheck // then the reader has gone: so it is for those who print
	return 0
}

// relay leaves the outputs that others hold open to a process of its own, as nvpeak ends with the command. A
// terminal is not among them: what it was hangs up.
func (o *outputs) relay(helper string) {
	for _, c := range o.copies {
		if !c.held {
			continue
		}
		files := []uintptr{c.from.Fd(), c.to.Fd(), ^uintptr(0)}
		attr := &syscall.ProcAttr{Dir: "/", Env: os.Environ(), Files: files, Sys: &syscall.SysProcAttr{Setsid: true}}
		syscall.ForkExec(helper, []string{RelayName}, attr) //nolint:errcheck // then they can print no more
		c.from.Close()                                      //nolint:errcheck // it was only read
	}
}
