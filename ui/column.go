package ui

import (
	"cmp"
	"fmt"
	"strings"

	"nvpeak/sampler"
	"nvpeak/theme"
)

// column of the process table. A new one is one row of columns.
type column struct {
	title string
	width int  // of the text; the command takes what is left
	rank  int  // columns with a low rank stay when there is little room
	left  bool // aligned
	down  bool // sorts from large to small first
	role  func(procRow) theme.Role
	text  func(procRow) string
	order func(a, b procRow) int // nil: it shows what another one sorts by
}

// plainTitle is a column's title without the sign of peaks.
func plainTitle(c column) string { return strings.TrimPrefix(c.title, "▲") }

// name is what people call a column: "mem" for that of GPU MEM.
func (c column) name() string {
	words := strings.Fields(plainTitle(c))
	return strings.ToLower(strings.TrimSuffix(words[len(words)-1], "%"))
}

// byOpt sorts the unknown below everything.
func byOpt[T cmp.Ordered](of func(procRow) sampler.Opt[T]) func(a, b procRow) int {
	return func(a, b procRow) int {
		x, xok := of(a).Value()
		y, yok := of(b).Value()
		if !xok || !yok {
			return pick(xok, 1, 0) - pick(yok, 1, 0)
		}
		return cmp.Compare(x, y)
	}
}

func byText(of func(procRow) string) func(a, b procRow) int {
	return func(a, b procRow) int { return strings.Compare(of(a), of(b)) }
}

func always(r theme.Role) func(procRow) theme.Role { return func(procRow) theme.Role { return r } }

// ofProc reads an optional figure of a process; the unattributed row has none.
func ofProc[T comparable](of func(*sampler.Process) sampler.Opt[T]) func(procRow) sampler.Opt[T] {
	return func(r procRow) sampler.Opt[T] {
		if r.proc == nil {
			return sampler.Opt[T]{}
		}
		return of(r.proc)
	}
}

// formatted formats an optional figure; nothing at all for the unattributed row.
func formatted[T comparable](of func(procRow) sampler.Opt[T], format func(T) string) func(procRow) string {
	return func(r procRow) string {
		if x, ok := of(r).Value(); ok {
			return format(x)
		}
		return pick(r.proc == nil, "", notAvailable)
	}
}

func word(of func(*sampler.Process) string) func(procRow) string {
	return func(r procRow) string {
		if r.proc == nil {
			return ""
		}
		return of(r.proc)
	}
}

func (c column) format(r procRow, w int) string {
	text := c.text(r)
	if c.left {
		return text
	}
	return fmt.Sprintf("%*s", w, text)
}
