// Package child runs a command as if nvpeak were not there, and reads what it prints.
//
//	standard input and output are a terminal: a pseudo-terminal of its own
//
//	  terminal (raw) ──► pty ──► session helper ──► command (its own job)
//	                └──◄ pty ◄──────────────────────────┘
//	                      └──► Side
//
//	otherwise: each output as it is, so that the kernel goes on with jobs and signals
//
//	  pipe, socket ◄── copied ◄── pipe ◄── command
//	  terminal     ◄── copied ◄── pty  ◄── command
//	  file         ◄───────────────────── command     (read in the file, beside)
//
// The session helper is nvpeak itself under another name. A job can be stopped only while somebody
// of the same session and another job waits for it; without the helper Ctrl-Z would do nothing.
package child
