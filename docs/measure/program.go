//go:build linux

package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"nvpeak/sampler/nvml/nvmltest"
	"nvpeak/ui/cli/e2e"
)

// subject is a program that is measured. peak reads from the screen the figure of GPU 0
// that shows a spike, in GiB.
type subject struct {
	name string
	args []string
	peak func(screen string) (gib float64, ok bool)
}

// nvpeak marks the peak of a GPU by ▲; nvtop has only the memory in use.
var (
	nvpeakMark = regexp.MustCompile(`▲(\d+\.\d)`)
	nvtopMark  = regexp.MustCompile(`(\d+\.\d+)Gi/`)
)

func nvpeakPeak(screen string) (float64, bool) { return firstNumber(nvpeakMark, screen) }
func nvtopUsed(screen string) (float64, bool)  { return firstNumber(nvtopMark, screen) }

func firstNumber(re *regexp.Regexp, text string) (float64, bool) {
	m := re.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	f, err := strconv.ParseFloat(m[1], 64)
	return f, err == nil
}

// figures of one program in one pass.
type figures struct {
	own, driver             float64   // % of a core
	first                   float64   // % of a core, the driver in warmUp
	resident                float64   // MiB
	switches                float64   // voluntary ones, a second
	kilobytes               float64   // a minute
	memoryCalls, otherCalls float64   // a second
	spikes                  []float64 // ms from the begin to the screen, of those that were seen
}

// running is a program under measurement.
type running struct {
	subject
	term  *e2e.Terminal
	stats string
	seen  map[int]float64 // ms from the begin of a spike to the screen, by its number
	done  chan struct{}
}

// Course of the spikes in the shipped scenarios: see their first lines. A spike of GPU 0
// is 10 GiB and more above what is in use otherwise.
const (
	spikeFirst = 1500 * time.Millisecond
	spikeEvery = 2900 * time.Millisecond
	spikeCount = 20
	warmUp     = 2500 * time.Millisecond // left out of the figures: start, first screen; the counters come each second
)

// together runs the programs side by side on the same course of the scenario.
func (l *lab) together(cols, rows int, height float64, subjects []subject) (map[string]figures, error) {
	begin := time.Now()
	var all []*running
	defer func() {
		for _, r := range all {
			r.term.Close()
			if r.done != nil {
				<-r.done
			}
		}
	}()
	for i, s := range subjects {
		r := &running{subject: s, stats: filepath.Join(l.dir, fmt.Sprintf("stats%d", i)), seen: map[int]float64{}}
		os.Remove(r.stats)
		term, err := e2e.Start(e2e.Options{Args: s.args, Env: l.env(r.stats, begin), Cols: cols, Rows: rows})
		if err != nil {
			return nil, err
		}
		r.term = term
		all = append(all, r)
		if height > 0 {
			r.done = make(chan struct{})
			go r.watchSpikes(begin, height)
		}
	}
	time.Sleep(warmUp)
	from := make([]sample, len(all))
	for i, r := range all {
		from[i] = r.sample()
	}
	time.Sleep(time.Until(begin.Add(l.span)))
	result := map[string]figures{}
	for i, r := range all {
		f, err := difference(from[i], r.sample())
		if err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", r.name, err, r.term.Screen())
		}
		r.term.Close()
		if r.done != nil {
			<-r.done
			r.done = nil
			f.spikes = slices.Sorted(maps.Values(r.seen))
		}
		result[r.name] = f
	}
	return result, nil
}

// watchSpikes looks at the screen after each output. A spike counts when its size is
// read while it is the last one: from its begin to that of the next.
func (r *running) watchSpikes(begin time.Time, height float64) {
	defer close(r.done)
	base := 0.0
	r.term.WaitFor("the end", time.Hour, func(screen string) bool { //nolint:errcheck // it ends with the program
		gib, ok := r.peak(screen)
		since := time.Since(begin) - spikeFirst
		switch k := int(since / spikeEvery); {
		case !ok:
		case since < 0:
			base = gib // before the first spike: with or without what the driver reserves
		case base > 0 && k < spikeCount && gib > base+height-1.5+float64(k) && gib < base+height+1.5+float64(k):
			if _, known := r.seen[k]; !known {
				r.seen[k] = ms(since - time.Duration(k)*spikeEvery)
			}
		}
		return false
	})
}

// sample is the state of the counters at a time.
type sample struct {
	at       time.Time
	cpu      time.Duration
	bytes    int
	resident float64
	switches int
	stats    nvmltest.Stats
	err      error
}

func (r *running) sample() sample {
	s := sample{bytes: r.term.Count()}
	s.stats, s.err = nvmltest.ReadStats(r.stats)
	pid := r.term.Cmd.Process.Pid
	var err error
	s.cpu, err = cpuTime(pid)
	s.at = time.Now()
	if s.err == nil {
		s.err = err
	}
	s.resident, s.switches = residentMiB(pid), switches(pid)
	return s
}

// cpuTime of a process in all its threads, exact to the nanosecond: the clock of a
// process as clock_getcpuclockid(3) makes it from the pid.
func cpuTime(pid int) (time.Duration, error) {
	var ts unix.Timespec
	err := unix.ClockGettime(int32(^pid<<3|2), &ts)
	return time.Duration(ts.Nano()), err
}

func residentMiB(pid int) float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for _, line := range strings.Split(string(text), "\n") {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, _ := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 64)
			return kb / 1024
		}
	}
	return 0
}

// switches counts how often the threads of a process have gone to sleep.
func switches(pid int) (n int) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	for _, path := range threads {
		text, _ := os.ReadFile(path)
		_, rest, _ := strings.Cut(string(text), "\nvoluntary_ctxt_switches:")
		line, _, _ := strings.Cut(rest, "\n")
		k, _ := strconv.Atoi(strings.TrimSpace(line))
		n += k
	}
	return n
}

// difference makes figures of two samples. The driver's counters are up to a second old,
// so that they are divided by their own time.
func difference(a, b sample) (figures, error) {
	if a.err != nil || b.err != nil {
		return figures{}, fmt.Errorf("no counters: %w", firstOf(a.err, b.err))
	}
	span, driven := b.at.Sub(a.at), (b.stats.Elapsed - a.stats.Elapsed).Seconds()
	f := figures{resident: b.resident, switches: float64(b.switches-a.switches) / span.Seconds(), kilobytes: float64(b.bytes-a.bytes) / 1000 / span.Minutes()}
	f.first = 100 * driverTime(a.stats).Seconds() / a.stats.Elapsed.Seconds()
	busy, counting := driverTime(b.stats)-driverTime(a.stats), time.Duration(0)
	for name, c := range b.stats.Calls {
		calls := float64(c.Count-a.stats.Calls[name].Count) / driven
		if name == "statistics" {
			counting = c.Busy - a.stats.Calls[name].Busy
			f.switches -= calls
			continue
		}
		if strings.HasPrefix(name, "nvmlDeviceGetMemoryInfo") {
			f.memoryCalls += calls
		} else {
			f.otherCalls += calls
		}
	}
	f.driver = 100 * busy.Seconds() / driven
	f.own = 100*((b.cpu-a.cpu).Seconds()/span.Seconds()-counting.Seconds()/driven) - f.driver
	return f, nil
}

// driverTime is the time of all calls but those that only wait.
func driverTime(s nvmltest.Stats) (busy time.Duration) {
	for name, c := range s.Calls {
		if name != "statistics" && !strings.HasPrefix(name, "nvmlEventSetWait") {
			busy += c.Busy
		}
	}
	return busy
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// start is the time from exec to the memory of a GPU on the screen, and the CPU time of the
// first second, both in ms.
func (l *lab) start(s subject) (first, cpu float64, err error) {
	term, err := e2e.Start(e2e.Options{Args: s.args, Env: l.env("", time.Time{}), Cols: 160, Rows: 50})
	if err != nil {
		return 0, 0, err
	}
	defer term.Close()
	err = term.WaitFor("figures", 10*time.Second, func(screen string) bool {
		_, ok := s.peak(screen)
		return ok
	})
	first = ms(time.Since(term.Started))
	if err != nil {
		return 0, 0, err
	}
	time.Sleep(time.Until(term.Started.Add(time.Second)))
	used, err := cpuTime(term.Cmd.Process.Pid)
	return first, ms(used), err
}

// quit is the time from q to the end of the program, so long after its first second.
func (l *lab) quit(s subject, later time.Duration) (float64, error) {
	term, err := e2e.Start(e2e.Options{Args: s.args, Env: l.env("", time.Time{}), Cols: 160, Rows: 50})
	if err != nil {
		return 0, err
	}
	defer term.Close()
	time.Sleep(time.Second + later)
	began := time.Now()
	if err := term.Type("q"); err != nil {
		return 0, err
	}
	_, err = term.Wait(10 * time.Second)
	return ms(time.Since(began)), err
}

// once is the time of a whole `nvpeak once --json`.
func (l *lab) once() (float64, error) {
	cmd := exec.Command(l.nvpeak, "once", "--json")
	cmd.Env = l.env("", time.Time{})
	began := time.Now()
	err := cmd.Run()
	return ms(time.Since(began)), err
}

// keys are the times from a key to its effect on the screen, in ms, with 64 GPUs.
func (l *lab) keys() ([]float64, error) {
	term, err := e2e.Start(e2e.Options{Args: []string{l.nvpeak}, Env: l.env("", time.Time{}), Cols: 200, Rows: 60})
	if err != nil {
		return nil, err
	}
	defer term.Close()
	if err := term.WaitText("more", 10*time.Second); err != nil {
		return nil, err
	}
	time.Sleep(2 * time.Second)
	var all []float64
	for i := range 30 {
		before := cursorRow(term.Screen())
		began := time.Now()
		if err := term.Type("j"); err != nil {
			return nil, err
		}
		err := term.WaitFor("the cursor elsewhere", 10*time.Second, func(screen string) bool { return cursorRow(screen) != before })
		if err != nil {
			return nil, err
		}
		all = append(all, ms(time.Since(began)))
		if i%10 == 9 { // back to the top, where j moves the mark
			if err := term.Type("g"); err != nil {
				return nil, err
			}
		}
		time.Sleep(137 * time.Millisecond) // at another part of the second each time
	}
	return all, nil
}

// cursorRow is the row and the process under the cursor.
func cursorRow(screen string) string {
	for y, line := range strings.Split(screen, "\n") {
		if line = strings.TrimPrefix(line, "│"); strings.HasPrefix(line, "›") { // in a box or not
			return fmt.Sprintf("%d %.12s", y, line)
		}
	}
	return ""
}
