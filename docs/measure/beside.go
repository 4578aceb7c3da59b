//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// busyLoops run beside the programs of the scenes "busy" and "late".
const busyLoops = 4

// loops starts them, each by those words before it.
func loops(by ...string) (stop func(), err error) {
	var all []*exec.Cmd
	stop = func() {
		for _, c := range all {
			c.Process.Kill() //nolint:errcheck // it runs for ever
			c.Wait()         //nolint:errcheck // it was killed
		}
	}
	for range busyLoops {
		args := append(slices.Clone(by), "sh", "-c", "while :; do :; done")
		c := exec.Command(args[0], args[1:]...)
		if err := c.Start(); err != nil {
			return stop, err
		}
		all = append(all, c)
	}
	return stop, nil
}

// busy is the comparison of peers beside programs that want every processor.
func (l *lab) busy(t *table) error {
	stop, err := loops()
	defer stop()
	if err != nil {
		return err
	}
	const beside = "50 ms beside four busy loops"
	stream := l.followStream(10)
	figures, err := l.together(160, 50, 10, l.subjects())
	if err != nil {
		return err
	}
	for name, f := range figures {
		t.add("beside four busy loops: CPU beside the driver's own time", "% of a core", name, f.own)
		t.add("beside four busy loops: driver calls, memory", "a second", name, f.memoryCalls)
		t.spikes(beside, name, f.spikes)
	}
	return stream.report(t, beside)
}

// dear is a driver whose memory calls take 20 ms, asleep.
func (l *lab) dear(t *table) error {
	text, err := os.ReadFile(l.scenario)
	if err != nil {
		return err
	}
	if err := l.write("dear.txt", string(text)+"latency nvmlDeviceGetMemoryInfo* 20ms sleep\n"); err != nil {
		return err
	}
	figures, err := l.together(160, 50, 0, l.subjects())
	if err != nil {
		return err
	}
	for name, f := range figures {
		t.add("memory calls of 20 ms: time in the driver", "% of a thread", name, f.driver)
		t.add("memory calls of 20 ms: the same in the first 2.5 s", "% of a thread", name, f.first)
		t.add("memory calls of 20 ms: CPU", "% of a core", name, f.own+f.driver)
		t.add("memory calls of 20 ms: driver calls, memory", "a second", name, f.memoryCalls)
	}
	return nil
}

// When the memory of GPUs 0 to 4 fails in the scenario "stale".
const (
	staleFrom = time.Second
	staleTo   = 7 * time.Second
	staleGPUs = 5
)

// stale measures how old a figure of memory gets that `nvpeak stream` shows without a word.
func (l *lab) stale(t *table) error {
	oldest, marked := time.Duration(0), make([]bool, staleGPUs)
	err := l.follow(func(s snapshot, since time.Duration) bool {
		for i := range min(len(s.GPUs), staleGPUs) {
			switch g := s.GPUs[i]; {
			case since > staleTo:
			case g.Error != nil:
				marked[i] = true
			case g.Memory.Used != nil:
				oldest = max(oldest, since-staleFrom)
			}
		}
		return since <= staleTo
	})
	if err != nil {
		return err
	}
	if slices.Contains(marked, false) {
		return fmt.Errorf("GPUs whose memory fails, with a word: %v", marked)
	}
	t.add("memory that fails after it worked: oldest figure without a mark", "s", "nvpeak", oldest.Seconds())
	return nil
}

// When the memory calls of "back" take 20 ms.
const (
	backFrom = 4 * time.Second
	backTo   = 14 * time.Second
)

// back is a driver that is slow for a while: how long it takes until its memory is read as often as before.
func (l *lab) back(t *table) error {
	text := fmt.Sprintf("gpu 0-7\nmem 0-7 used=20GiB\nproc 0-7 pid=42000 memory=rest\nlatency nvmlDeviceGetMemoryInfo* 20ms sleep from=%s to=%s\n", backFrom, backTo)
	if err := l.write("back.txt", text); err != nil {
		return err
	}
	slowest := 0.0
	var back time.Duration
	err := l.follow(func(s snapshot, since time.Duration) bool {
		slowest, back = max(slowest, s.Sampling.Period), since-backTo
		return back < 0 || s.Sampling.Period > s.Sampling.Asked && back < time.Minute
	})
	t.add("memory calls of 20 ms for 10 s: the longest period", "s", "nvpeak", slowest)
	t.add("memory calls of 20 ms for 10 s: back at the period asked for after", "s", "nvpeak", back.Seconds())
	return err
}

// storms are drivers whose wait for events always returns at once.
func (l *lab) storms(t *table) error {
	const gpus = "gpu 0-7 util=50\nmem 0-7 used=20GiB\nproc 0-7 pid=42000 memory=rest\n"
	for _, c := range []struct{ what, line string }{
		{"that waits", ""},
		{"with an event each time", "xid 0 at=1s code=31 again\n"},
		{"with an error each time", "fail nvmlEventSetWait* code=UNKNOWN\n"},
	} {
		if err := l.write("storm.txt", gpus+c.line); err != nil {
			return err
		}
		figures, err := l.together(160, 50, 0, l.ours())
		if err != nil {
			return err
		}
		for name, f := range figures {
			t.add("EventSetWait "+c.what+": CPU", "% of a core", name, f.own+f.driver)
		}
	}
	return nil
}

// write makes a scenario.
func (l *lab) write(name, text string) error {
	l.scenario = filepath.Join(l.dir, name)
	return os.WriteFile(l.scenario, []byte(text), 0o600)
}

// snapshot is what is looked at in a line of `nvpeak stream`.
type snapshot struct {
	Time time.Time
	GPUs []struct {
		Memory struct {
			Used *uint64 `json:"used_bytes"`
		}
		Error *string
	}
	Sampling struct {
		Period float64 `json:"period_s"`
		Asked  float64 `json:"asked_period_s"`
	} `json:"memory_lane"`
}

// follow shows look each snapshot of `nvpeak stream`, and how long after the begin of the scenario it is of, until that says false.
func (l *lab) follow(look func(s snapshot, since time.Duration) bool) error {
	cmd := exec.Command(l.nvpeak, "stream")
	begin := time.Now()
	cmd.Env = l.env("", begin)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() {
		cmd.Process.Kill() //nolint:errcheck // it may have ended
		cmd.Wait()         //nolint:errcheck // it was killed
	}()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var s snapshot
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return err
		}
		if !look(s, s.Time.Sub(begin)) {
			return nil
		}
	}
	return errors.Join(errors.New("stream has ended"), lines.Err())
}
