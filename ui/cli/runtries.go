package cli

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"

	"nvpeak/advice/report"
	"nvpeak/sampler"
	"nvpeak/ui/plain"
)

// keptRun is a run with the boxes of all its tries: its own is the newest.
type keptRun struct {
	keptBox
	tries []keptBox // the first first
}

func (r *keptRun) first() *keptBox { return &r.tries[0] }

// runsOf puts the boxes of one run together. Both lists have the newest first.
func runsOf(list []keptBox) (runs []keptRun) {
	for _, b := range list {
		i := -1
		if b.meta.Retry != nil {
			i = slices.IndexFunc(runs, func(r keptRun) bool { return r.meta.Retry != nil && r.meta.Retry.Run == b.meta.Retry.Run })
		}
		if i < 0 {
			runs = append(runs, keptRun{b, []keptBox{b}})
		} else {
			runs[i].tries = slices.Insert(runs[i].tries, 0, b)
		}
	}
	return runs
}

// endOfRun says how a run ended, with its last try.
func (a *app) endOfRun(r keptRun) string {
	if r.meta.Retry != nil && r.meta.Retry.Outcome != nil {
		return a.words().Say("runs.came", "code", r.meta.Retry.Outcome.ExitCode, "n", r.meta.Retry.Outcome.Try)
	}
	return a.endOf(r.keptBox)
}

// triesOf says what became of each try of a run that was tried more than once.
func (a *app) triesOf(r keptRun) (lines []string) {
	say := func(n int, changed, end string) {
		id := "runs.try"
		if changed != "" {
			id = "runs.try_with"
		}
		lines = append(lines, a.words().Say(id, "n", n, "what", changed, "end", end))
	}
	last := 0
	for _, b := range r.tries {
		if b.meta.Retry == nil {
			continue
		}
		end := a.endOf(b)
		if e := b.meta.Explanation; e != nil {
			end += a.words().Say("list.comma") + e.Verdict.Headline
		}
		last = b.meta.Retry.Try
		say(last, b.meta.Retry.Changed, end)
	}
	if r.meta.Retry != nil && r.meta.Retry.Outcome != nil && r.meta.Retry.Outcome.Try > last {
		o := r.meta.Retry.Outcome
		end := a.words().Say("runs.exit", "code", o.ExitCode)
		if peak, known := o.Peak.Value(); known {
			end += a.words().Say("list.comma") + a.words().Say("runs.peak", "peak", peak, "left", o.Headroom.Or(0).Few())
		}
		say(o.Try, o.Changed, end)
	}
	if len(lines) < 2 {
		return nil
	}
	return lines
}

// tryOf says which try of a run a box is of, and how the run ended; empty: it was tried once.
func (a *app) tryOf(b keptBox) string {
	r := b.meta.Retry
	switch {
	case r == nil || r.Try == 1 && r.Outcome == nil:
		return ""
	case r.Outcome == nil || r.Outcome.Try == r.Try:
		return a.words().Say("runs.is_try", "n", r.Try, "what", r.Changed)
	}
	return a.words().Say("runs.of_tries", "n", r.Try, "last", r.Outcome.Try, "code", r.Outcome.ExitCode, "what", r.Outcome.Changed)
}

// tried is a report of a recording with the try that it is of, where it is in a black box of one.
type tried struct {
	report.Report
	Retry *boxRetry `json:"retry,omitempty"`
}

// metaBeside is what the black box of a recording says of its run; of other recordings nothing.
func metaBeside(recording string) (meta boxMeta) {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(recording), boxMetaFile))
	if filepath.Base(recording) != boxRecording || err != nil || json.Unmarshal(text, &meta) != nil {
		return boxMeta{}
	}
	return meta
}

// runsJSON writes the runs: each with what its newest box has, and all its tries where it may have more than one.
func runsJSON(out io.Writer, list []keptRun) error {
	type box struct {
		Name    string `json:"name"`
		Path    string `json:"path"`
		Running bool   `json:"running"`
		boxMeta
	}
	type run struct {
		box
		Tries []box `json:"tries,omitempty"`
	}
	all := []run{}
	for _, r := range list {
		one := run{box: box{r.name, r.dir, r.alive, r.meta}}
		for _, b := range r.tries {
			if b.meta.Retry != nil {
				one.Tries = append(one.Tries, box{b.name, b.dir, b.alive, b.meta})
			}
		}
		all = append(all, one)
	}
	return plain.IndentedJSON(out, struct {
		Schema int   `json:"schema"`
		Runs   []run `json:"runs"`
	}{sampler.Schema, all})
}
