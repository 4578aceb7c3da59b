// Package retry decides whether a run that died of GPU memory is tried again, and with what changed.
//
//	death ─► Died ─► is it one of GPU memory?
//	      ─► Compare ─► did the last change bring anything?
//	      ─► Next ─► the first measure of explain that can be applied from outside
//
// What is changed is what the user could have typed: words of the command and variables of its environment. A file is
// never changed, and of a command only what is certain to reach the program that trains.
package retry
