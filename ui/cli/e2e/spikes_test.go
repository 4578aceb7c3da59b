package e2e_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler/nvml/nvmltest"
)

// reading is what the tests need of a line of stream.
type reading struct {
	Time time.Time
	GPUs []struct {
		Memory struct {
			Used   *uint64 `json:"used_bytes"`
			Window *struct {
				Max      uint64    `json:"max_bytes"`
				MaxTime  time.Time `json:"max_time"`
				Readings int
				Missed   int
			}
			Peak *struct {
				Bytes  uint64
				Time   time.Time
				Source string
			}
		}
		Error     *string
		Processes []struct {
			PID    int
			Memory *uint64 `json:"memory_bytes"`
		}
	}
}

// stream collects what `nvpeak stream` says until the given time, then closes the pipe:
// the program must end by itself.
func stream(t *testing.T, s setup, until time.Time) []reading {
	t.Helper()
	cmd := exec.Command(binary, append([]string{"stream"}, s.args...)...)
	cmd.Env = s.environ(t)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := time.AfterFunc(time.Until(until)+patience, func() { cmd.Process.Kill() }) //nolint:errcheck // it may have ended
	defer stop.Stop()
	var all []reading
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<24)
	for (len(all) == 0 || time.Now().Before(until)) && lines.Scan() {
		var r reading
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("%v\n%s", err, lines.Bytes())
		}
		all = append(all, r)
	}
	out.Close()
	if err := cmd.Wait(); err != nil || errs.Len() > 0 {
		t.Errorf("end of stream: %v, %q", err, errs.String())
	}
	return all
}

const (
	mib = uint64(1) << 20
	gib = uint64(1) << 30
)

// course of the spikes: small first, so that each one is a new peak.
const (
	spikeCount = 20
	spikeEvery = 500 * time.Millisecond
	spikeFirst = time.Second
	spikeGPUs  = 8
)

func spikeScenario(width time.Duration) string {
	return fmt.Sprintf("gpu 0-7\nmem 0-7 used=20GiB\nspike 0-7 at=%v width=%v height=10GiB grow=1GiB every=%v count=%d stagger=10ms\nproc 0-7 pid=42000 memory=rest\n",
		spikeFirst, width, spikeEvery, spikeCount)
}

// Every spike must be there with its size to the byte and its time to one period. Where a
// busy machine let readings come late, the window must say so: a spike may be missed or
// late only by readings that are counted as missed.
func TestSpikes(t *testing.T) {
	for _, width := range []time.Duration{50 * time.Millisecond, 200 * time.Millisecond} {
		t.Run(width.String(), func(t *testing.T) {
			t.Parallel()
			begin := time.Now().Add(500 * time.Millisecond)
			last := begin.Add(spikeFirst + spikeCount*spikeEvery)
			s := setup{scenario: spikeScenario(width), env: []string{nvmltest.StartAt(begin)}, size: [2]int{160, 50}}
			term := open(t, s)
			s.args = []string{"--interval", "250ms"}
			all := stream(t, s, last.Add(500*time.Millisecond))
			checkSpikes(t, all, begin, width)

			screen := seeThat(t, term, "the peak of all GPUs", func(s string) bool { return strings.Count(s, "▲49.0") >= spikeGPUs })
			if n := strings.Count(screen, "20.0 / "); n != spikeGPUs {
				t.Errorf("%d GPUs are back at 20.0:\n%s", n, screen)
			}
		})
	}
}

func checkSpikes(t *testing.T, all []reading, begin time.Time, width time.Duration) {
	t.Helper()
	const period = 20 * time.Millisecond
	var late []time.Duration
	excused := 0
	for gpu := range spikeGPUs {
		for k := range spikeCount {
			from := begin.Add(spikeFirst + time.Duration(k)*spikeEvery + time.Duration(gpu)*10*time.Millisecond)
			size := (30 + uint64(k)) * gib
			at, seen, missed := find(all, gpu, from, width, size)
			switch {
			case seen && at.Before(from.Add(-time.Millisecond)) || seen && at.After(from.Add(width+period)):
				t.Errorf("GPU %d spike %d: time %v from its begin, wide %v", gpu, k, at.Sub(from), width)
			case seen:
				late = append(late, at.Sub(from))
			case missed >= int(width/period)-1:
				excused++
			default:
				t.Errorf("GPU %d spike %d of %d GiB is not there, with %d readings missed", gpu, k, size/gib, missed)
			}
		}
	}
	if excused > spikeGPUs*spikeCount/4 {
		t.Errorf("%d of %d spikes fell into readings that came too late", excused, spikeGPUs*spikeCount)
	}
	if len(late) == 0 {
		return
	}
	slices.Sort(late)
	t.Logf("%d of %d seen, time after begin: median %v, most %v", len(late), spikeGPUs*spikeCount, late[len(late)/2], late[len(late)-1])
	// Memory that stands still is read every other period, so half of that is due.
	if late[len(late)/2] > 2*period-5*time.Millisecond {
		t.Errorf("median time is %v after the begin of the spike, period %v", late[len(late)/2], period)
	}
}

// find looks for the spike in the windows around it, and counts the missed readings there.
func find(all []reading, gpu int, from time.Time, width time.Duration, size uint64) (at time.Time, seen bool, missed int) {
	for _, r := range all {
		if gpu >= len(r.GPUs) || r.GPUs[gpu].Memory.Window == nil {
			continue
		}
		w := r.GPUs[gpu].Memory.Window
		if w.Max == size {
			return w.MaxTime, true, 0
		}
		if d := r.Time.Sub(from); d > 0 && d < width+500*time.Millisecond {
			missed += w.Missed
		}
	}
	return at, false, missed
}

// PCIe throughput of 20 ms a call must not slow the memory poller: 50 readings a second of memory that moves.
func TestSlowCallsLeaveTheMemoryLaneAlone(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	all := stream(t, setup{scenario: "slowpcie"}, begin.Add(6*time.Second))
	if len(all) < 4 {
		t.Fatalf("%d snapshots in 6 s", len(all))
	}
	readings, missed := 0, 0
	windows := all[1 : len(all)-1]
	for _, r := range windows { // the first and the last may be short
		if w := r.GPUs[7].Memory.Window; w != nil { // there is none between two snapshots a few ms apart
			readings += w.Readings
			missed += w.Missed
		}
	}
	span := windows[len(windows)-1].Time.Sub(all[0].Time).Seconds()
	rate, due := float64(readings)/span, float64(readings+missed)/span
	t.Logf("%.1f readings a second, %.1f due", rate, due)
	if due < 45 || due > 55 { // what was late is counted: the pace itself must hold
		t.Errorf("%.1f readings a second were due, want 50", due)
	}
	if rate < 45 && missed == 0 || rate < 30 {
		t.Errorf("%.1f readings a second", rate)
	}
}

// The spike of slowpcie must be there although its calls take longer than the spike.
func TestSpikesWithSlowCalls(t *testing.T) {
	t.Parallel()
	term := open(t, setup{scenario: "slowpcie", size: [2]int{120, 40}})
	seeThat(t, term, "the peak of all GPUs", func(s string) bool { return strings.Count(s, "▲50.0") >= 8 })
	press(t, term, "q")
	ends(t, term, 0)
}

// The first snapshot comes at once and has the memory of every GPU. On a busy machine one
// may be too early, not most of them.
func TestFirstSnapshotHasMemory(t *testing.T) {
	t.Parallel()
	const runs = 8
	without := 0
	for range runs {
		first := stream(t, setup{scenario: "peers", args: []string{"--interval", "200ms"}}, time.Now())
		for _, g := range first[0].GPUs {
			if g.Memory.Used == nil {
				without++
				break
			}
		}
	}
	if without > runs/4 {
		t.Errorf("%d of %d runs began without the memory", without, runs)
	}
}
