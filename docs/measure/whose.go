//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nvpeak/sampler/nvml/nvmltest"
)

// The scene "whose": four processes of 4 GiB on one GPU. The first once spikes by 50 GiB; then the others
// spike for 50 ms, 200 times in random order, each a little higher than that one ever did and far below the first.
const (
	whoseSpikes = 200
	whoseBase   = 4 << 30
	whoseFirst  = 42001
	whoseWidth  = 50 * time.Millisecond
)

// ownSpike is one of them.
type ownSpike struct {
	pid    int
	at     time.Duration
	height uint64
}

func ownSpikes() (list []ownSpike) {
	rng := rand.New(rand.NewPCG(4, 200))
	list = append(list, ownSpike{whoseFirst, 2 * time.Second, 50 << 30})
	height := map[int]uint64{}
	at := 3 * time.Second
	for range whoseSpikes {
		pid := whoseFirst + 1 + rng.IntN(3)
		height[pid] += (40 + rng.Uint64N(80)) << 20
		list = append(list, ownSpike{pid, at, 1<<30 + height[pid]})
		at += time.Duration(250+rng.IntN(650)) * time.Millisecond
	}
	return list
}

// whoseScenario writes the scene; list calls take that long.
func whoseScenario(path string, spikes []ownSpike, latency string) error {
	text := "gpu 0 total=80GiB\n"
	if latency != "" {
		text += "latency nvmlDeviceGetComputeRunningProcesses* " + latency + " sleep\n"
	}
	for n := range 4 {
		pid, from := whoseFirst+n, time.Duration(0)
		stretch := func(until string, used uint64) {
			text += fmt.Sprintf("proc 0 pid=%d memory=%d start=%dms%s\n", pid, used, from.Milliseconds(), until)
		}
		for _, s := range spikes {
			if s.pid == pid {
				stretch(fmt.Sprintf(" stop=%dms", s.at.Milliseconds()), whoseBase)
				from = s.at
				stretch(fmt.Sprintf(" stop=%dms", (s.at+whoseWidth).Milliseconds()), whoseBase+s.height)
				from = s.at + whoseWidth
			}
		}
		stretch("", whoseBase)
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// whose measures with list calls that answer at once, and with ones of 1 ms.
func (l *lab) whose(t *table) error {
	for _, latency := range []string{"", "1ms"} {
		if err := l.whoseWith(t, latency); err != nil {
			return err
		}
	}
	return nil
}

// whoseSnapshot is what is read of a line of `nvpeak stream`.
type whoseSnapshot struct {
	Time time.Time
	GPUs []struct {
		Memory struct {
			Window *struct {
				Rise     *uint64    `json:"rise_bytes"`
				RiseTime *time.Time `json:"rise_time"`
				RisePID  *int       `json:"rise_pid"`
			}
		}
		Processes []struct {
			PID  int
			Peak *struct{ Bytes uint64 }
		}
	}
}

func (l *lab) whoseWith(t *table, latency string) error {
	spikes := ownSpikes()
	l.scenario = filepath.Join(l.dir, "whose.txt")
	if err := whoseScenario(l.scenario, spikes, latency); err != nil {
		return err
	}
	stats := filepath.Join(l.dir, "whose-stats")
	os.Remove(stats)
	begin := time.Now()
	cmd := exec.Command(l.nvpeak, "stream")
	cmd.Env = l.env(stats, begin)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer cmd.Wait()         //nolint:errcheck // it is killed
	defer cmd.Process.Kill() //nolint:errcheck // it may have ended
	tally := whoseTally{spikes: spikes[1:], begin: begin, peaks: map[int]uint64{}, due: slices.Clone(spikes[1:])}
	end := begin.Add(spikes[len(spikes)-1].at + 2*time.Second)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<24)
	for time.Now().Before(end) && lines.Scan() {
		var s whoseSnapshot
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return err
		}
		tally.add(&s)
	}
	tally.report(t, strings.TrimSpace("whose "+latency))
	return l.whoseCalls(t, stats, "whose "+latency)
}

func (l *lab) whoseCalls(t *table, stats, name string) error {
	s, err := nvmltest.ReadStats(stats)
	if err != nil {
		return err
	}
	for f, c := range s.Calls {
		if strings.HasPrefix(f, "nvmlDeviceGetComputeRunningProcesses") {
			t.add(strings.TrimSpace(name)+": process lists", "a second", "nvpeak", float64(c.Count)/s.Elapsed.Seconds())
		}
	}
	return nil
}

// whoseTally compares what snapshots say with the scene.
type whoseTally struct {
	spikes []ownSpike
	begin  time.Time
	peaks  map[int]uint64
	due    []ownSpike // that are not yet the peak of their process

	peaked                int
	right, unknown, wrong int // highest spikes of a second, by rise_pid
}

func (w *whoseTally) add(s *whoseSnapshot) {
	if len(s.GPUs) == 0 {
		return
	}
	for _, p := range s.GPUs[0].Processes {
		if p.Peak != nil {
			w.peaks[p.PID] = p.Peak.Bytes
		}
	}
	due := w.due[:0]
	for _, k := range w.due {
		switch {
		case w.peaks[k.pid] >= whoseBase+k.height: // that of a later one is as good: nobody could see this one any more
			w.peaked++
		case s.Time.Sub(w.begin) < k.at+2*time.Second:
			due = append(due, k)
		}
	}
	w.due = due
	w.rise(s)
}

func (w *whoseTally) rise(s *whoseSnapshot) {
	win := s.GPUs[0].Memory.Window
	if win == nil || win.RiseTime == nil {
		return
	}
	for _, k := range w.spikes {
		at := w.begin.Add(k.at)
		if win.RiseTime.Before(at) || win.RiseTime.After(at.Add(whoseWidth)) {
			continue
		}
		switch {
		case win.RisePID == nil:
			w.unknown++
		case *win.RisePID == k.pid:
			w.right++
		default:
			w.wrong++
		}
	}
}

func (w *whoseTally) report(t *table, name string) {
	t.add(name+": spikes that became the peak of their process within 2 s", fmt.Sprintf("of %d", whoseSpikes), "nvpeak", float64(w.peaked))
	t.add(name+": highest spike of a second, named rightly", "", "nvpeak", float64(w.right))
	t.add(name+": highest spike of a second, said to be unknown whose", "", "nvpeak", float64(w.unknown))
	t.add(name+": highest spike of a second, named wrongly", "", "nvpeak", float64(w.wrong))
}
