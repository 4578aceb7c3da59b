//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"time"
)

// table collects what was measured, in order of appearance.
type table struct {
	rows  []*row
	names []string // of the programs
}

type row struct {
	what, unit string
	values     map[string][]float64
}

func (t *table) add(what, unit, name string, v float64) {
	if !slices.Contains(t.names, name) {
		t.names = append(t.names, name)
		slices.Sort(t.names)
	}
	for _, r := range t.rows {
		if r.what == what {
			r.values[name] = append(r.values[name], v)
			return
		}
	}
	t.rows = append(t.rows, &row{what, unit, map[string][]float64{name: {v}}})
}

// spikes adds how many spikes were on the screen, and how long after their begin.
func (t *table) spikes(width, name string, after []float64) {
	t.add("spikes of "+width+" on the screen", "of 20", name, float64(len(after)))
	if n := len(after); n > 0 {
		t.add("spike of "+width+" on the screen after, median", "ms", name, after[n/2])
		t.add("spike of "+width+" on the screen after, most", "ms", name, after[n-1])
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// print writes the medians as a table in Markdown, with least and most in brackets.
func (t *table) print(w io.Writer) {
	fmt.Fprint(w, "| |")
	for _, name := range t.names {
		fmt.Fprintf(w, " %s |", name)
	}
	fmt.Fprint(w, "\n|---|")
	for range t.names {
		fmt.Fprint(w, "---|")
	}
	fmt.Fprintln(w)
	for _, r := range t.rows {
		fmt.Fprintf(w, "| %s, %s |", r.what, r.unit)
		for _, name := range t.names {
			fmt.Fprintf(w, " %s |", median(r.values[name]))
		}
		fmt.Fprintln(w)
	}
}

func median(v []float64) string {
	if len(v) == 0 {
		return "-"
	}
	slices.Sort(v)
	if v[0] == v[len(v)-1] {
		return number(v[0])
	}
	return fmt.Sprintf("**%s** (%s to %s)", number(v[len(v)/2]), number(v[0]), number(v[len(v)-1]))
}

func number(f float64) string {
	switch {
	case f == float64(int(f)):
		return fmt.Sprintf("%.0f", f)
	case f < 10:
		return fmt.Sprintf("%.2f", f)
	}
	return fmt.Sprintf("%.1f", f)
}

// follower reads `nvpeak stream` beside the screens and compares the windows with the
// spikes of GPU 0.
type follower struct {
	cmd     *exec.Cmd
	begin   time.Time
	offset  float64
	windows []window
	err     error
	done    chan struct{}
	span    time.Duration
}

type window struct {
	Max     uint64    `json:"max_bytes"`
	MaxTime time.Time `json:"max_time"`
	Missed  int
}

// followStream starts it; offset is the height of the first spike in GiB.
func (l *lab) followStream(offset float64) *follower {
	f := &follower{cmd: exec.Command(l.nvpeak, "stream"), begin: time.Now(), offset: offset, done: make(chan struct{}), span: l.span}
	f.cmd.Env = l.env("", f.begin)
	out, err := f.cmd.StdoutPipe()
	if err == nil {
		err = f.cmd.Start()
	}
	if err != nil {
		f.err = err
		close(f.done)
		return f
	}
	go func() {
		defer close(f.done)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<24)
		for time.Since(f.begin) < f.span && lines.Scan() {
			var s struct {
				GPUs []struct{ Memory struct{ Window *window } }
			}
			if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
				f.err = err
				return
			}
			if len(s.GPUs) > 0 && s.GPUs[0].Memory.Window != nil {
				f.windows = append(f.windows, *s.GPUs[0].Memory.Window)
			}
		}
	}()
	return f
}

// report waits for the end and says how right size and time of the spikes are.
func (f *follower) report(t *table, width string) error {
	select {
	case <-f.done:
	case <-time.After(5 * time.Second):
	}
	if f.cmd.Process != nil {
		f.cmd.Process.Kill() //nolint:errcheck // it may have ended
		f.cmd.Wait()         //nolint:errcheck // it was killed
	}
	if f.err != nil {
		return fmt.Errorf("stream: %w", f.err)
	}
	missed, first := 0, map[int]float64{} // by spike: one that lies across two windows is in both
	for _, w := range f.windows {
		missed += w.Missed
		at := w.MaxTime.Add(time.Millisecond) // it is cut to one
		k := int((at.Sub(f.begin) - spikeFirst) / spikeEvery)
		late := at.Sub(f.begin.Add(spikeFirst + time.Duration(k)*spikeEvery))
		if k >= spikeCount || late < 0 || w.Max%(1<<30) != 0 || w.Max>>30 < uint64(f.offset)+20 {
			continue
		}
		base := w.Max>>30 - uint64(k) // the same for all spikes: what is in use, and the first height
		if base != 30 && base != 52 {
			continue
		}
		if _, seen := first[k]; !seen {
			first[k] = float64(late.Microseconds()) / 1000
		}
	}
	latest := 0.0
	for _, ms := range first {
		latest = max(latest, ms)
	}
	t.add("spikes of "+width+" in stream, size right to the byte", "of 20", "nvpeak", float64(len(first)))
	t.add("spikes of "+width+" in stream, time after their begin, most", "ms", "nvpeak", latest)
	t.add("spikes of "+width+" in stream, readings missed", "in the pass", "nvpeak", float64(missed))
	return nil
}
