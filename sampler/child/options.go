package child

import "os"

// Options of a run.
type Options struct {
	Args    []string // the command and its arguments
	Env     []string
	Side    *Side
	In      *os.File
	Out     *os.File
	Err     *os.File
	Helper  string            // the program that is started as the session helper: nvpeak itself
	Problem func(text string) // is told why the command cannot be started
	Room    func()            // gives back the descriptors of the watching where none is left to start the command with: it then runs unread
	unread  bool              // the command gets the outputs themselves
}

// Exit codes of what cannot be started, as shells have them.
const (
	codeNotExecutable = 126
	codeNotFound      = 127
	codeSignal        = 128 // and the number of the signal
)
