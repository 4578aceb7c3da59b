package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"nvpeak/sampler"
	"nvpeak/sampler/redact"
)

// Exit codes that users and scripts rely on.
const (
	exitFine   = 0
	exitFailed = 1
	exitUsage  = 2
	exitNo     = 3 // the answer of check and wait is no
)

// usageError is an error in what was typed.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// signalError ends the program because of a signal, after the terminal was restored.
type signalError struct{ signal syscall.Signal }

func (e signalError) Error() string { return e.signal.String() }

// answerNo is the error of a question whose answer, already printed, is no.
type answerNo struct{}

func (answerNo) Error() string { return "no" }

// errTold is an error that was printed already.
var errTold = errors.New("it was said already")

// exitCode prints an error as one line and chooses the exit code. typed are the arguments that it may quote.
func exitCode(err error, w io.Writer, typed ...string) int {
	var usage usageError
	var sig signalError
	var no answerNo
	var child childEnded
	switch {
	case err == nil:
		return exitFine
	case errors.As(err, &child):
		return int(child)
	case errors.As(err, &sig):
		return 128 + int(sig.signal)
	case errors.As(err, &no):
		return exitNo
	case errors.Is(err, errTold):
		return exitFailed
	case errors.Is(err, syscall.EPIPE):
		return exitFine // whoever read has gone
	}
	fmt.Fprintln(w, "nvpeak: "+redact.Quoting(oneLine(err), typed))
	if errors.As(err, &usage) || errors.Is(err, sampler.ErrSelect) {
		return exitUsage
	}
	return exitFailed
}

// oneLine is the error as one harmless line; where there is no GPU it says what to do
// without one. A stack of an internal error keeps its lines.
func oneLine(err error) string {
	text := err.Error()
	if strings.HasPrefix(text, "internal error") {
		return text
	}
	text = line(text)
	if withoutGPU(err) {
		return text + " (to look around without a GPU: nvpeak --demo)"
	}
	return text
}

// line is a text as one harmless line; several errors are a line each.
func line(text string) string {
	return sampler.Clean(strings.ReplaceAll(strings.TrimSpace(text), "\n", "; "))
}

// withoutGPU says whether there is no GPU that could be measured.
func withoutGPU(err error) bool {
	for _, absent := range []error{sampler.ErrNoLibrary, sampler.ErrDriverNotLoaded, sampler.ErrMismatch, sampler.ErrNoGPU, sampler.ErrNoPermission} {
		if errors.Is(err, absent) {
			return true
		}
	}
	return false
}
