//go:build linux

// Measure prints what nvpeak costs and what it sees, and where nvtop is installed, nvtop
// beside it: same fake driver, same scenario, same terminal, same minute.
//
//	go run ./docs/measure              # three passes of about twenty minutes
//	go run ./docs/measure -passes 1 -for 20s
//
// CPU time is that of the process; the time that the driver says it was busy in calls is
// printed beside it. Medians over the passes. Needs gcc for the fake driver, and no GPU.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	var o options
	flag.StringVar(&o.nvpeak, "nvpeak", "", "`binary` to measure; default: built from this directory")
	flag.StringVar(&o.source, "source", ".", "`directory` of the nvpeak that is built to have its clock set")
	flag.StringVar(&o.before, "before", "", "`binary` of another nvpeak that plays beside it")
	flag.IntVar(&o.passes, "passes", 3, "how often; the medians are printed")
	flag.DurationVar(&o.span, "for", time.Minute, "length of a pass; all spikes need a minute")
	flag.StringVar(&o.only, "only", "", "`part` to run alone: start, ends, peers, spikes200, flaky, slow, many, whose, clock, churn, busy, late, dear, stale, back, storms or hang")
	flag.Parse()
	if err := measure(o); err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

// part is one scenario with the programs that play it side by side.
type part struct {
	name     string
	scenario string
	run      func(*lab, *table) error
}

var parts = []part{
	{"start", "peers", (*lab).starts},
	{"ends", "peers", (*lab).ends},
	{"peers", "peers", (*lab).peers},
	{"spikes200", "spikes200", (*lab).wide},
	{"flaky", "flaky", (*lab).flaky},
	{"slow", "slow30us", (*lab).slow},
	{"many", "big64x32", (*lab).many},
	{"whose", "", (*lab).whose},
	{"clock", "spikes50", (*lab).clock},
	{"churn", "peers", (*lab).churn},
	{"busy", "peers", (*lab).busy},
	{"late", "", (*lab).late},
	{"dear", "peers", (*lab).dear},
	{"stale", "stale", (*lab).stale},
	{"back", "", (*lab).back},
	{"storms", "", (*lab).storms},
	{"hang", "", (*lab).hangs},
}

func measure(o options) error {
	if _, err := os.Stat("testdata/fakenvml/build.sh"); err != nil {
		return errors.New("run it in the root of the repository: go run ./docs/measure")
	}
	dir, err := os.MkdirTemp("", "nvpeak-measure-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	l, err := newLab(dir, o)
	if err != nil {
		return err
	}
	t := &table{}
	for pass := range o.passes {
		for _, p := range parts {
			if o.only != "" && o.only != p.name {
				continue
			}
			fmt.Fprintf(os.Stderr, "pass %d of %d: %s\n", pass+1, o.passes, p.name)
			l.scenario, err = filepath.Abs(filepath.Join("testdata/fakenvml/scenarios", p.scenario+".txt"))
			if err != nil {
				return err
			}
			if err := p.run(l, t); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
	}
	t.print(os.Stdout)
	return nil
}

// subjects are the programs that are compared.
func (l *lab) subjects() []subject {
	all := []subject{{name: "nvpeak", args: []string{l.nvpeak}, peak: nvpeakPeak}}
	if l.before != "" {
		all = append(all, subject{name: "nvpeak before", args: []string{l.before}, peak: nvpeakPeak})
	}
	if l.nvtop != "" {
		all = append(all,
			subject{name: "nvtop 1 s", args: []string{l.nvtop}, peak: nvtopUsed},
			subject{name: "nvtop 0.1 s", args: []string{l.nvtop, "-d", "1"}, peak: nvtopUsed})
	}
	return all
}

// starts measures the time from exec to the first figures on the screen.
func (l *lab) starts(t *table) error {
	for range 5 {
		for _, s := range l.subjects() {
			if s.name == "nvtop 0.1 s" {
				continue
			}
			first, cpu, err := l.start(s)
			if err != nil {
				return err
			}
			t.add("first figures after exec", "ms", s.name, first)
			t.add("CPU in the first second", "ms", s.name, cpu)
		}
	}
	return nil
}

// ends measures the time from q to the end of the program, and a whole `once`.
func (l *lab) ends(t *table) error {
	for i := range 5 {
		for _, s := range l.subjects() {
			if s.name == "nvtop 0.1 s" {
				continue
			}
			took, err := l.quit(s, time.Duration(i)*170*time.Millisecond)
			if err != nil {
				return err
			}
			t.add("q to exit", "ms", s.name, took)
		}
		took, err := l.once()
		if err != nil {
			return err
		}
		t.add("once", "ms", "nvpeak", took)
	}
	return nil
}

// flaky is a driver whose errors come and go.
func (l *lab) flaky(t *table) error {
	figures, err := l.together(160, 50, 0, l.ours())
	if err != nil {
		return err
	}
	for name, f := range figures {
		t.add("flaky driver: to the terminal", "kB a minute", name, f.kilobytes)
	}
	return nil
}

// peers is the comparison: 8 GPUs, 26 processes, 20 spikes of 50 ms, 160x50.
func (l *lab) peers(t *table) error {
	stream := l.followStream(10)
	figures, err := l.together(160, 50, 10, l.subjects())
	if err != nil {
		return err
	}
	for name, f := range figures {
		t.add("CPU beside the driver's own time", "% of a core", name, f.own)
		t.add("driver's own time", "% of a core", name, f.driver)
		t.add("resident memory", "MiB", name, f.resident)
		t.add("voluntary switches", "a second", name, f.switches)
		t.add("to the terminal", "kB a minute", name, f.kilobytes)
		t.add("driver calls, memory", "a second", name, f.memoryCalls)
		t.add("driver calls, all others", "a second", name, f.otherCalls)
		t.spikes("50 ms", name, f.spikes)
	}
	return stream.report(t, "50 ms")
}

// wide is the same with spikes of 200 ms.
func (l *lab) wide(t *table) error {
	stream := l.followStream(10)
	figures, err := l.together(160, 50, 10, l.subjects())
	if err != nil {
		return err
	}
	for name, f := range figures {
		t.spikes("200 ms", name, f.spikes)
	}
	return stream.report(t, "200 ms")
}

// slow gives every call 30 us of CPU time.
func (l *lab) slow(t *table) error {
	var chosen []subject
	for _, s := range l.subjects() {
		if s.name != "nvtop 1 s" {
			chosen = append(chosen, s)
		}
	}
	figures, err := l.together(160, 50, 10, chosen)
	if err != nil {
		return err
	}
	for name, f := range figures {
		t.add("CPU with calls of 30 us, driver included", "% of a core", name, f.own+f.driver)
		t.add("voluntary switches with calls of 30 us", "a second", name, f.switches)
	}
	if f, ok := figures["nvtop 0.1 s"]; ok {
		n := figures["nvpeak"]
		t.add("of nvtop at 0.1 s", "%", "nvpeak", 100*(n.own+n.driver)/(f.own+f.driver))
	}
	return nil
}

// ours are nvpeak and the nvpeak before.
func (l *lab) ours() (ours []subject) {
	for _, s := range l.subjects() {
		if strings.HasPrefix(s.name, "nvpeak") {
			ours = append(ours, s)
		}
	}
	return ours
}

// many is 64 GPUs with 32 processes each.
func (l *lab) many(t *table) error {
	figures, err := l.together(200, 60, 0, l.ours())
	if err != nil {
		return err
	}
	for name, f := range figures {
		t.add("64 GPUs x 32: CPU beside the driver's own time", "% of a core", name, f.own)
		t.add("64 GPUs x 32: driver's own time", "% of a core", name, f.driver)
		t.add("64 GPUs x 32: resident memory", "MiB", name, f.resident)
	}
	keys, err := l.keys()
	if err != nil {
		return err
	}
	slices.Sort(keys)
	t.add("64 GPUs x 32: key to screen, median", "ms", "nvpeak", keys[len(keys)/2])
	t.add("64 GPUs x 32: key to screen, slowest of 30", "ms", "nvpeak", keys[len(keys)-1])
	return nil
}

// churnProcesses come and go within a pass.
const churnProcesses = 5000

// churn is eight GPUs on which processes start and end all the time.
func (l *lab) churn(t *table) error {
	var text strings.Builder
	fmt.Fprintln(&text, "gpu 0-7\nmem 0-7 used=20GiB")
	life := (l.span - warmUp) / (churnProcesses / 80)
	for k := range churnProcesses / 80 {
		from := warmUp/2 + time.Duration(k)*life
		fmt.Fprintf(&text, "proc 0-7 pid=%d count=10 memory=1GiB start=%dms stop=%dms\n", 100_000+80*k, from.Milliseconds(), (from + life).Milliseconds())
	}
	if err := l.write("churn.txt", text.String()); err != nil {
		return err
	}
	figures, err := l.together(160, 50, 0, l.ours())
	for name, f := range figures {
		t.add(fmt.Sprintf("resident memory after %d processes", churnProcesses), "MiB", name, f.resident)
	}
	return err
}
