// Package torch hears from PyTorch's allocator inside the processes that use it: what it holds, and each tensor that
// it refused. No process is asked from outside. A file named sitecustomize.py, which Env puts into the way of every
// Python program below a command, reports from within:
//
//	sitecustomize.py ── a line of JSON once a second, and at each failure ──► every socket in monitors/ of its user
//	Receiver ── parse: figures that can be ── place: which GPU ── Apply ──► Process.Allocator of a snapshot
//
// Every monitor of a user has such a socket, so one that runs beside sees the runs that others began. Nobody waits
// for anybody: a line that cannot be sent at once is lost, and the next one has all that matters again.
//
// A report is the word of a program that may be broken. The kernel says whose it is, every figure is checked, and
// what is older than its reporter's interval and some seconds is absent.
package torch
