package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"nvpeak/sampler"
)

func itoa(n int) string { return strconv.Itoa(n) }

// keptBox is a black box as it is found.
type keptBox struct {
	name  string
	dir   string
	meta  boxMeta
	alive bool // its run goes on
}

// boxes lists the black boxes, the newest first. What is none is left out.
func boxes(runs string) (list []keptBox) {
	entries, err := os.ReadDir(runs)
	if err != nil {
		return nil
	}
	for _, e := range slices.Backward(entries) {
		b := keptBox{name: e.Name(), dir: filepath.Join(runs, e.Name())}
		text, err := os.ReadFile(filepath.Join(b.dir, boxMetaFile))
		if err != nil || json.Unmarshal(text, &b.meta) != nil {
			continue
		}
		b.alive = b.meta.End == nil && boxBusy(b.dir)
		list = append(list, b)
	}
	return list
}

// boxBusy says whether nvpeak still writes a box: it holds the lock of its directory.
func boxBusy(dir string) bool {
	file, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer file.Close() //nolint:errcheck // it was only asked
	return unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) == unix.EWOULDBLOCK
}

// pruneBoxes leaves the newest boxes. Those of runs that go on do not count.
func pruneBoxes(runs string) {
	kept := 0
	for _, b := range boxes(runs) {
		if b.alive {
			continue
		}
		if kept++; kept > maxBoxes {
			os.RemoveAll(b.dir) //nolint:errcheck // it is tried again after the next run
		}
	}
}

func runsCommand(a *app) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "runs",
		Short: "the black boxes of run, the newest first; nvpeak report LAST opens the newest",
		Args:  noArgs,
		RunE:  func(*cobra.Command, []string) error { return a.listRuns(asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	a.opt.bind(c.Flags(), "lang")
	return c
}

func (a *app) listRuns(asJSON bool) error {
	list := runsOf(boxes(a.runsDirectory()))
	out := bufio.NewWriter(a.out)
	if asJSON {
		if err := runsJSON(out, list); err != nil {
			return err
		}
		return out.Flush()
	}
	if len(list) == 0 {
		a.say(a.words().Say("runs.none", "dir", a.runsDirectory()))
		return nil
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, r := range list {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", r.first().meta.Start.Local().Format(time.DateTime), a.lastedOf(r), a.endOfRun(r), r.name, sampler.Clean(r.first().meta.Command))
		lines := a.triesOf(r)
		if e := r.meta.Explanation; e != nil && len(lines) == 0 {
			lines = []string{e.Verdict.Headline}
		}
		for _, line := range lines {
			fmt.Fprintf(table, "\t\t\t%s\n", sampler.Clean(line))
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	return out.Flush()
}

// lastedOf is how long a run was watched.
func (a *app) lastedOf(r keptRun) string {
	if r.meta.End == nil {
		return ""
	}
	end := *r.meta.End
	if r.meta.Retry != nil && r.meta.Retry.Outcome != nil {
		end = r.meta.Retry.Outcome.End
	}
	return a.words().Lasted(end.Sub(r.first().meta.Start).Seconds())
}

// endOf says how a run ended.
func (a *app) endOf(b keptBox) string {
	switch {
	case b.alive:
		return a.words().Say("runs.alive")
	case b.meta.ExitCode == nil:
		return a.words().Say("runs.killed")
	}
	return a.words().Say("runs.exit", "code", *b.meta.ExitCode)
}

// lastName is the name under which report finds the newest box.
const lastName = "LAST"

// boxNamed is the box that a name of `report` means: LAST, or the name that `runs` lists. A file of that name
// comes first.
func (a *app) boxNamed(name string) (b keptBox, ok bool, err error) {
	if _, statErr := os.Stat(name); statErr == nil || strings.ContainsRune(name, os.PathSeparator) {
		return b, false, nil
	}
	list := boxes(a.runsDirectory())
	if name == lastName {
		list = slices.DeleteFunc(list, func(b keptBox) bool { return b.alive })
		if len(list) == 0 {
			return b, false, fmt.Errorf("there is no black box in %s: nvpeak run keeps one of a run that dies of memory", a.runsDirectory())
		}
		return list[0], true, nil
	}
	i := slices.IndexFunc(list, func(b keptBox) bool { return b.name == name })
	if i < 0 {
		return b, false, nil
	}
	return list[i], true, nil
}

// openBoxes puts their recordings in the place of names of boxes. A single box that has none is explained.
func (a *app) openBoxes(ctx context.Context, files []string, asJSON bool) (done bool, err error) {
	for i, name := range files {
		b, ok, err := a.boxNamed(name)
		if err != nil {
			return false, err
		}
		if !ok {
			continue
		}
		recording, explained, err := a.reportBox(ctx, b, asJSON)
		if explained || err != nil {
			return true, err
		}
		files[i] = recording
	}
	return false, nil
}

// reportBox makes one recording of a box whose run was killed, and says what else there is. A box without
// figures of GPUs has only its output to be explained.
func (a *app) reportBox(ctx context.Context, b keptBox, asJSON bool) (recording string, explained bool, err error) {
	if !b.alive {
		joinParts(b.dir) //nolint:errcheck // the newest part is there
	}
	a.say(a.words().Say("runs.opened", "dir", b.dir))
	if text := a.tryOf(b); text != "" {
		a.say(text)
	}
	recording = filepath.Join(b.dir, boxRecording)
	if info, err := os.Stat(recording); err == nil && info.Size() > 0 {
		return recording, false, nil
	}
	log := filepath.Join(b.dir, boxLog)
	if found, err := a.scanFile(log); !asJSON && err == nil && len(found.events) == 0 { // it is no log that somebody has to paste more of
		_, err := fmt.Fprintln(a.out, a.words().Say("runs.no_failure", "command", sampler.Clean(b.meta.Command), "end", a.endOf(b), "log", sampler.Clean(log)))
		return "", true, err
	}
	var env []string
	for name, value := range b.meta.Environment {
		env = append(env, name+"="+value)
	}
	return "", true, a.explain(ctx, []string{log}, &explainFlags{command: b.meta.Command, env: env, json: asJSON})
}
