//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"nvpeak/ui/cli/e2e"
)

// The scene "late": two GPUs with a spike of 50 ms every 530 ms, in turn, each the highest of its GPU so far, beside four
// programs that want every processor. What is measured is how late the rarest of them are on the screen.
const (
	lateFirst  = 2 * time.Second
	lateEvery  = 1060 * time.Millisecond
	lateCount  = 54
	lateBase   = 10 // GiB
	lateHeight = 1
)

func (l *lab) late(t *table) error {
	text := fmt.Sprintf("gpu 0-1\nmem 0-1 used=%dGiB\nproc 0-1 pid=42000 memory=rest\n", lateBase)
	for i, gpu := range []string{"0", "1"} {
		at := lateFirst + time.Duration(i)*lateEvery/2
		text += fmt.Sprintf("spike %s at=%dms width=50ms height=%dGiB grow=1GiB every=%dms count=%d\n", gpu, at.Milliseconds(), lateHeight, lateEvery.Milliseconds(), lateCount)
	}
	if err := l.write("late.txt", text); err != nil {
		return err
	}
	place(unix.SCHED_RR, 1) // else it would measure how late it is itself
	defer place(unix.SCHED_NORMAL, 0)
	for _, s := range l.ours() {
		after, err := l.lateOf(s)
		if err != nil {
			return err
		}
		slices.Sort(after)
		over := len(after) - slices.IndexFunc(append(after, 1e9), func(ms float64) bool { return ms > 150 })
		t.add("four busy loops, two GPUs: spikes on the screen", fmt.Sprintf("of %d", lateCount), s.name, float64(len(after)))
		t.add("four busy loops, two GPUs: spike on the screen after, median", "ms", s.name, after[len(after)/2])
		t.add("four busy loops, two GPUs: spike on the screen after, most", "ms", s.name, after[len(after)-1])
		t.add("four busy loops, two GPUs: spikes later than 150 ms", "", s.name, float64(over))
	}
	return nil
}

// lateOf is how late the spikes of GPU 0 are on the screen of one program.
func (l *lab) lateOf(s subject) (after []float64, err error) {
	stop, err := loops(asUsual...)
	defer stop()
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	args := append(slices.Clone(asUsual), s.args...)
	term, err := e2e.Start(e2e.Options{Args: args, Env: l.env("", begin), Cols: 160, Rows: 50})
	if err != nil {
		return nil, err
	}
	defer term.Close()
	k := 0
	err = term.WaitFor("all spikes", lateFirst+lateCount*lateEvery+3*time.Second, func(screen string) bool {
		gib, ok := s.peak(screen)
		for ok && k < lateCount && gib > lateBase+lateHeight+float64(k)-0.5 {
			after = append(after, ms(term.Latest().Sub(begin.Add(lateFirst+time.Duration(k)*lateEvery))))
			k++
		}
		return k == lateCount
	})
	if len(after) > 0 {
		err = nil // not all of them is a figure, too
	}
	return after, err
}

// asUsual lets a program that this one starts have the usual place among others, whatever this one has.
var asUsual = []string{"chrt", "-o", "0"}

// place puts all threads of this program before all ordinary ones, or back.
func place(policy, priority uint32) {
	tasks, _ := filepath.Glob("/proc/self/task/*")
	for _, path := range tasks {
		if tid, err := strconv.Atoi(filepath.Base(path)); err == nil {
			unix.SchedSetAttr(tid, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: policy, Priority: priority}, 0) //nolint:errcheck // without it the figures are later
		}
	}
}
