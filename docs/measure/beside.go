//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// busyLoops run beside the programs of the scene "busy".
const busyLoops = 4

// busy is the comparison of peers beside programs that want every processor.
func (l *lab) busy(t *table) error {
	var loops []*exec.Cmd
	defer func() {
		for _, c := range loops {
			c.Process.Kill() //nolint:errcheck // it runs for ever
			c.Wait()         //nolint:errcheck // it was killed
		}
	}()
	for range busyLoops {
		c := exec.Command("sh", "-c", "while :; do :; done")
		if err := c.Start(); err != nil {
			return err
		}
		loops = append(loops, c)
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
	l.scenario = filepath.Join(l.dir, "dear.txt")
	if err := os.WriteFile(l.scenario, append(text, "latency nvmlDeviceGetMemoryInfo* 20ms sleep\n"...), 0o600); err != nil {
		return err
	}
	figures, err := l.together(160, 50, 0, l.subjects())
	if err != nil {
		return err
	}
	for name, f := range figures {
		t.add("memory calls of 20 ms: time in the driver", "% of a thread", name, f.driver)
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
	oldest, marked := time.Duration(0), make([]bool, staleGPUs)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var s struct {
			Time time.Time
			GPUs []struct {
				Memory struct {
					Used *uint64 `json:"used_bytes"`
				}
				Error *string
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return err
		}
		since := s.Time.Sub(begin)
		if since > staleTo {
			break
		}
		for i := range min(len(s.GPUs), staleGPUs) {
			switch g := s.GPUs[i]; {
			case g.Error != nil:
				marked[i] = true
			case g.Memory.Used != nil:
				oldest = max(oldest, since-staleFrom)
			}
		}
	}
	if slices.Contains(marked, false) {
		return fmt.Errorf("GPUs whose memory fails, with a word: %v", marked)
	}
	t.add("memory that fails after it worked: oldest figure without a mark", "s", "nvpeak", oldest.Seconds())
	return nil
}
