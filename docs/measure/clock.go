//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"nvpeak/ui/cli/e2e"
)

// The scene "clock": somebody sets the clock back by an hour while nvpeak runs. Nobody wants that of the
// machine set, so the program is built with another time.Now, whose time of day makes that step.

const (
	setAfter = 15 * time.Second
	setBy    = -time.Hour
)

const clockSetter = `package main

import (
	"os"
	"time"
)

func init() {
	after, _ := time.ParseDuration(os.Getenv("MEASURE_SET_AFTER"))
	by, _ := time.ParseDuration(os.Getenv("MEASURE_SET_BY"))
	if after > 0 {
		time.AfterFunc(after, func() { time.MeasureSet = int64(by / time.Second) })
	}
}
`

// setClock builds nvpeak so that its clock can be set.
func (l *lab) setClock() (program string, err error) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	original := filepath.Join(strings.TrimSpace(string(goroot)), "src/time/time.go")
	text, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	const now = "sec, nsec, mono := runtimeNow()\n\tif mono == 0 {"
	changed := strings.Replace(string(text), now, "sec, nsec, mono := runtimeNow()\n\tsec += MeasureSet\n\tif mono == 0 {", 1) + "\nvar MeasureSet int64\n"
	if !strings.Contains(string(text), now) {
		return "", fmt.Errorf("time.Now of %s is another than this measurement knows", runtime.Version())
	}
	source, err := filepath.Abs(l.source)
	if err != nil {
		return "", err
	}
	files := map[string]string{original: changed, filepath.Join(source, "measure_set.go"): clockSetter}
	replace := map[string]string{}
	for name, text := range files {
		replace[name] = filepath.Join(l.dir, fmt.Sprintf("overlay%d.go", len(replace)))
		if err := os.WriteFile(replace[name], []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	list := filepath.Join(l.dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return "", err
	}
	program = filepath.Join(l.dir, "nvpeak-set")
	build := exec.Command("go", "build", "-overlay", list, "-o", program, ".")
	build.Dir = source
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return program, nil
}

// clock measures what is left of the plots, and what a recording tells.
func (l *lab) clock(t *table) error {
	program, err := l.setClock()
	if err != nil {
		return err
	}
	env := append(l.env("", time.Time{}), "MEASURE_SET_AFTER="+setAfter.String(), "MEASURE_SET_BY="+setBy.String(), "TZ=UTC")
	return errors.Join(l.clockScreen(t, program, env), l.clockTape(t, program, env))
}

func (l *lab) clockScreen(t *table, program string, env []string) error {
	term, err := e2e.Start(e2e.Options{Args: []string{program}, Env: env, Cols: 160, Rows: 50})
	if err != nil {
		return err
	}
	defer term.Close()
	curves := func() (n int) {
		for _, r := range term.Screen() {
			if strings.ContainsRune("╭╮╰╯│", r) {
				n++
			}
		}
		return n
	}
	time.Sleep(time.Until(term.Started.Add(setAfter - time.Second/2)))
	before := curves()
	set := term.Started.Add(setAfter)
	err = term.WaitFor("the new time of day", 10*time.Second, func(screen string) bool {
		first, _, _ := strings.Cut(screen, "\n")
		return strings.Contains(first, time.Now().Add(setBy).UTC().Format("15:04:"))
	})
	if err != nil {
		return err
	}
	t.add("clock set back by 1 h: until the screen shows the new time of day", "s", "nvpeak", time.Since(set).Seconds())
	time.Sleep(time.Until(set.Add(2 * time.Second)))
	t.add("clock set back by 1 h: of the curves on the screen still there 2 s later", "%", "nvpeak", 100*min(1, float64(curves())/float64(before)))
	return nil
}

var recordedSpan = regexp.MustCompile(`recorded (\S+) of`)

func (l *lab) clockTape(t *table, program string, env []string) error {
	file := filepath.Join(l.dir, "set.jsonl")
	os.Remove(file)
	record := exec.Command(program, "record", "-o", file, "--for", "30s")
	record.Env = env
	out, err := record.CombinedOutput()
	if err != nil {
		return fmt.Errorf("record: %w\n%s", err, out)
	}
	m := recordedSpan.FindSubmatch(out)
	if m == nil {
		return fmt.Errorf("record says not how long it was: %s", out)
	}
	said, err := time.ParseDuration(string(m[1]))
	if err != nil {
		return err
	}
	report := exec.Command(l.nvpeak, "report", "--json", file)
	text, err := report.Output()
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	var r struct {
		Duration float64 `json:"duration_s"`
		Events   []struct{ Kind string }
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return err
	}
	told := 0
	for _, e := range r.Events {
		if e.Kind == "time_backwards" {
			told++
		}
	}
	t.add("clock set back by 1 h: 30 s of recording, by what record says", "s", "nvpeak", said.Seconds())
	t.add("clock set back by 1 h: 30 s of recording, by the report", "s", "nvpeak", r.Duration)
	t.add("clock set back by 1 h: events that tell of it", "", "nvpeak", float64(told))
	return nil
}
