// Package crash gives the terminal back and says why when C code of others, the driver library, crashes in this process.
package crash

/*
#include <stddef.h>
#include <termios.h>
void crash_watch(void);
void crash_terminal(int in, int out, const unsigned char *text, size_t len, const struct termios *modes);
void crash_no_terminal(void);
*/
import "C"

import "sync"

var watch sync.Once

// Watch begins to watch. What crashes in Go's own code is Go's to tell, as before.
func Watch() { watch.Do(func() { C.crash_watch() }) }

// Terminal is one that is taken now: its modes as they are, and what is to be written when it is given back.
type Terminal struct {
	in, out int
	modes   C.struct_termios
	known   bool
}

// Save keeps the modes of a terminal, before they are changed.
func Save(in, out int) *Terminal {
	t := &Terminal{in: in, out: out}
	t.known = C.tcgetattr(C.int(in), &t.modes) == 0
	return t
}

// Taken says that the terminal is in use from now on.
func (t *Terminal) Taken(leave string) {
	if text := []byte(leave); t.known && len(text) > 0 {
		C.crash_terminal(C.int(t.in), C.int(t.out), (*C.uchar)(&text[0]), C.size_t(len(text)), &t.modes)
	}
}

// Left says that it was given back.
func (*Terminal) Left() { C.crash_no_terminal() }
