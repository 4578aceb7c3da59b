//go:build linux

package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"nvpeak/ui/cli/e2e"
)

// The scene "hang": a call of GPU 1 does not return for a while, from three moments on, since some figures are read every other second only.
// Each figure tells the tenth of a second in which it was read: a W, a degree, a percent of the fan, 100 MiB.
const (
	hangSpan = 6 * time.Second
	hangTick = 100 * time.Millisecond
	hangBase = 10 // GiB
)

var hangFrom = []time.Duration{5500 * time.Millisecond, 6500 * time.Millisecond, 7500 * time.Millisecond}

// hangs measures how old a figure gets on the screen without a word.
func (l *lab) hangs(t *table) error {
	for _, call := range []string{"MemoryInfo*", "FanSpeed", "ComputeRunningProcesses*"} {
		for _, s := range l.ours() {
			ages, err := l.oldest(s, call)
			if err != nil {
				return err
			}
			t.add(call+" of one GPU hangs: its oldest figure on the screen without a word", "s", s.name, ages.its.Seconds())
			t.add(call+" of one GPU hangs: the oldest figure of others on the screen without a word", "s", s.name, ages.others.Seconds())
		}
	}
	return nil
}

// hangAges are those of the oldest figure of the GPU whose call hangs, and of others.
type hangAges struct{ its, others time.Duration }

func (l *lab) oldest(s subject, call string) (most hangAges, err error) {
	var all sync.WaitGroup
	var mu sync.Mutex
	for _, from := range hangFrom {
		if err := l.write(fmt.Sprintf("hang%v.txt", from), hangScenario(call, from)); err != nil {
			return most, err
		}
		l := *l
		all.Go(func() {
			ages, failed := l.watchAges(s, from+hangSpan)
			mu.Lock()
			defer mu.Unlock()
			most = hangAges{max(most.its, ages.its), max(most.others, ages.others)}
			err = errors.Join(err, failed)
		})
	}
	all.Wait()
	return most, err
}

func hangScenario(call string, from time.Duration) string {
	text := "gpu 0-2\nproc * pid=42000 memory=1GiB\n"
	for tenth := range int((from+hangSpan)/hangTick) + 10 {
		at := hangTick.Milliseconds() * int64(tenth)
		text += fmt.Sprintf("set * at=%dms power=%d temp=%d fan=%d\nmem * at=%dms used=%dMiB\n", at, tenth, tenth, tenth, at, hangBase<<10+100*tenth)
	}
	return text + fmt.Sprintf("hang nvmlDeviceGet%s gpu=1 from=%dms to=%dms\n", call, from.Milliseconds(), (from+hangSpan).Milliseconds())
}

// hangFigure is a figure in the title of a GPU or the row below it, and the tenth of a second that it tells.
type hangFigure struct {
	shown *regexp.Regexp
	tenth func(float64) float64
}

var (
	hangTitle   = regexp.MustCompile(`GPU (\d) H100`)
	asItIs      = func(f float64) float64 { return f }
	hangFigures = []hangFigure{
		{regexp.MustCompile(` (\d+)°C`), asItIs},
		{regexp.MustCompile(` (\d+)/\d+ W`), asItIs},
		{regexp.MustCompile(`fan +(\d+)%`), asItIs},
		{regexp.MustCompile(`(\d+\.\d) / \d`), func(gib float64) float64 { return (gib - hangBase) * 10.24 }},
	}
)

// age is how old the figure is in a text now; 0: it is not there.
func (f *hangFigure) age(text string, now time.Duration) time.Duration {
	read, ok := firstNumber(f.shown, text)
	if !ok {
		return 0
	}
	return now - time.Duration(f.tenth(read)*float64(hangTick))
}

// watchAges looks at the screen until that time of the scenario.
func (l *lab) watchAges(s subject, until time.Duration) (most hangAges, err error) {
	begin := time.Now().Truncate(time.Second)
	term, err := e2e.Start(e2e.Options{Args: s.args, Env: append(l.env("", begin), "LC_ALL=C.UTF-8"), Cols: 100, Rows: 60})
	if err != nil {
		return most, err
	}
	defer term.Close()
	time.Sleep(time.Until(begin.Add(warmUp)))
	for time.Since(begin) < until {
		lines, now := term.Lines(), time.Since(begin)
		for y, line := range lines[:len(lines)-1] {
			title := hangTitle.FindStringSubmatch(line)
			if title == nil || !hangFigures[0].shown.MatchString(line) { // a word stands in their place
				continue
			}
			age := time.Duration(0)
			for i := range hangFigures {
				age = max(age, hangFigures[i].age(line+lines[y+1], now))
			}
			if title[1] == "1" {
				most.its = max(most.its, age)
			} else {
				most.others = max(most.others, age)
			}
		}
		time.Sleep(30 * time.Millisecond)
	}
	if most.its == 0 || most.others == 0 {
		err = fmt.Errorf("there are no figures in %s:\n%s", filepath.Base(l.scenario), strings.Join(term.Lines(), "\n"))
	}
	return most, err
}
