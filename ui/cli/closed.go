package cli

/*
#include <fcntl.h>

// Go opens /dev/null in place of a standard stream that is closed, before any of its code
// runs. A constructor runs before that.
static int closed;
__attribute__((constructor)) static void look(void) { closed = fcntl(1, F_GETFD) < 0; }
static int output_closed(void) { return closed; }
*/
import "C"

import (
	"errors"
	"io"
	"os"
)

// errClosed is the error of writing where the shell has closed the output: `nvpeak stream >&-`.
var errClosed = errors.New("standard output is closed: there is nowhere to print to")

// closedOutput takes nothing.
type closedOutput struct{}

func (closedOutput) Write([]byte) (int, error) { return 0, errClosed }

// output is standard output.
func output() io.Writer {
	if C.output_closed() != 0 {
		return closedOutput{}
	}
	return os.Stdout
}
