package proc

import (
	"bytes"
	"errors"
	"time"
)

// userHZ is the unit of the times in /proc/PID/stat, in ticks per second. The kernel's
// interface fixes it at 100 on amd64 and arm64, whatever HZ it runs with:
// https://man7.org/linux/man-pages/man7/time.7.html
const userHZ = 100

// idle is the state of a thread of the kernel that waits. No other process has it.
const idle = 'I'

// stat is what is needed of one /proc/PID/stat.
type stat struct {
	name  string
	state byte
	up    uint64 // the parent
	cpu   uint64 // user and system time, in ticks
	start uint64 // ticks after boot; with the pid the identity of a process
	rss   uint64 // pages
}

var errStat = errors.New("not the form of /proc/PID/stat")

// parseStat reads the fields of https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html.
// The name may hold blanks, newlines and parentheses, so the fields are counted from the
// last closing one.
func parseStat(b []byte) (stat, error) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open || len(b) < end+3 {
		return stat{}, errStat
	}
	s := stat{name: string(b[open+1 : end]), state: b[end+2]}
	var user, system uint64
	wanted := []struct {
		field int // as the manual numbers them
		to    *uint64
	}{{4, &s.up}, {14, &user}, {15, &system}, {22, &s.start}, {24, &s.rss}}
	rest := b[end+2:]
	for field := 3; len(wanted) > 0; field++ {
		word, after, more := bytes.Cut(rest, []byte(" "))
		if field == wanted[0].field {
			n, ok := number(bytes.TrimSpace(word))
			if !ok {
				return stat{}, errStat
			}
			*wanted[0].to = n
			wanted = wanted[1:]
		}
		if !more && len(wanted) > 0 {
			return stat{}, errStat
		}
		rest = after
	}
	s.cpu = user + system
	return s, nil
}

// number reads a decimal number that fits in 63 bits; rss may be printed negative and is 0 then.
func number(b []byte) (uint64, bool) {
	if len(b) > 1 && b[0] == '-' {
		_, ok := number(b[1:])
		return 0, ok
	}
	if len(b) == 0 || len(b) > 19 {
		return 0, false
	}
	var n uint64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, n < 1<<63
}

// parseBoot finds the time of boot in /proc/stat. It has whole seconds.
func parseBoot(b []byte) (time.Time, bool) {
	for line := range bytes.Lines(b) {
		if rest, ok := bytes.CutPrefix(line, []byte("btime ")); ok {
			n, ok := number(bytes.TrimSpace(rest))
			return time.Unix(int64(n), 0).UTC(), ok && n > 0 && n < 1<<40
		}
	}
	return time.Time{}, false
}

// startTime of a process that started so many ticks after boot.
func startTime(boot time.Time, ticks uint64) (time.Time, bool) {
	if boot.IsZero() || ticks > userHZ*3600*24*365*100 { // a century of uptime is a broken file
		return time.Time{}, false
	}
	return boot.Add(time.Duration(ticks) * (time.Second / userHZ)), true
}
