package cli

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"time"

	"nvpeak/advice/explain"
	"nvpeak/advice/report"
	"nvpeak/sampler"
	"nvpeak/sampler/tape"
	"nvpeak/sampler/trainlog"
)

// logFailures are the failures of one log.
type logFailures struct {
	name   string
	events []sampler.OOMEvent
	times  map[int]trainlog.LineTime // by line; nil where the log cannot be read again
}

// nameRank is a rank in the name of a log: rank3.log, rank_3.err, and 3/stderr.log of torchrun.
var nameRank = regexp.MustCompile(`(?i)(?:rank|worker|local)[-_.]?(\d{1,4})(?:\D[^/]*)?$|(?:^|/)(\d{1,4})/std(?:err|out)(?:\.log)?$`)

// rankOfLog is the rank that a log's name tells.
func rankOfLog(name string) sampler.Opt[int] {
	at := nameRank.FindStringSubmatch(name)
	if at == nil {
		return sampler.Opt[int]{}
	}
	n, err := strconv.Atoi(cmp.Or(at[1], at[2]))
	if err != nil {
		return sampler.Opt[int]{}
	}
	return sampler.Some(n)
}

// mergeLogs makes the failures of several logs those of one run: in the order of their times as far as
// the logs tell them, each once, with the rank that a log's name tells.
func mergeLogs(logs []logFailures) (events []sampler.OOMEvent, files []string) {
	type one struct {
		event sampler.OOMEvent
		file  string
		at    time.Time
	}
	var all []one
	for _, l := range logs {
		last := time.Time{}
		for _, e := range l.events {
			e.Rank = e.Rank.Else(rankOfLog(l.name))
			t := l.times[e.Line]
			last = t.Exact.Or(t.Before.Or(last)) // one without a time comes after the one before it
			same := func(o one) bool { return o.file != l.name && sameEvent(o.event, e) }
			if i := slices.IndexFunc(all, same); i >= 0 {
				all[i].event.Occurrences += e.Occurrences
				continue
			}
			all = append(all, one{e, l.name, last})
		}
	}
	if !slices.ContainsFunc(all, func(o one) bool { return o.at.IsZero() }) {
		slices.SortStableFunc(all, func(a, b one) int { return a.at.Compare(b.at) })
	}
	for _, o := range all {
		events, files = append(events, o.event), append(files, sampler.Clean(o.file))
	}
	if len(logs) < 2 {
		files = nil
	}
	return events, files
}

// sameEvent says whether two logs tell of one failure: all its numbers agree, and there are some.
func sameEvent(a, b sampler.OOMEvent) bool {
	numbers := a.Requested.Known() && a.GPUFree.Known() || a.PID.Known()
	return numbers && a.Same(&b) && a.PID == b.PID && a.Text == b.Text
}

// lineTimes are the times of the failures of a log; nil for standard input, which cannot be read twice.
func lineTimes(name string, events []sampler.OOMEvent, rec trainlog.Recording) (map[int]trainlog.LineTime, error) {
	if name == "-" || len(events) == 0 {
		return nil, nil
	}
	_, times, _, err := readTimes(name, events, rec)
	return times, err
}

// recall adds what a recording shows of the failures to an incident.
func (a *app) recall(in explain.Incident, logs []logFailures, name string) (explain.Incident, error) {
	o := report.Options{Redact: tape.Redact, Keep: a.keepGPU(), Outline: true}
	outline := report.New(o)
	if _, err := foldTape(name, outline, nil); err != nil && !errors.Is(err, errNoSnapshots) {
		return in, err
	}
	rec := recordingOf(outline)
	var list []report.LogFailure
	for _, l := range logs {
		times, err := lineTimes(l.name, l.events, rec)
		if err != nil {
			return in, err
		}
		for _, e := range l.events {
			t := times[e.Line]
			e.Rank = e.Rank.Else(rankOfLog(l.name))
			list = append(list, failureAt(e, t))
		}
	}
	o.Outline = false
	r := report.New(o)
	if _, err := foldTape(name, r, outline.PlaceFailures(list)); err != nil {
		return in, err
	}
	return r.Recall(in), nil
}
