// Package request makes of the calls that programs make to the CUDA driver what they asked for, what they were
// refused, and how much they hold: a fold over calls, with no system behind it. Package uprobe sees the calls.
package request
