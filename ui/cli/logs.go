package cli

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"time"

	"nvpeak/advice/report"
	"nvpeak/sampler"
	"nvpeak/sampler/oomlog"
	"nvpeak/sampler/tape"
	"nvpeak/sampler/trainlog"
)

// logFailures are the failures of one log.
type logFailures struct {
	name   string
	events []sampler.OOMEvent
	times  map[int]trainlog.LineTime // by line; nil where they are not known
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
			same := func(o one) bool { return o.file != l.name && o.event.SameInLogs(&e) }
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

// scanFile finds the failures in a log, - for standard input.
func (a *app) scanFile(name string) ([]sampler.OOMEvent, error) {
	in := a.in
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("the log cannot be read: %w", err)
		}
		defer file.Close()
		in = file
	}
	found, err := oomlog.Scan(tape.Text(in))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return found, nil
}

// anchor reads when the failures of a log happened, and what else its times tell. Standard input
// cannot be read twice.
func (l *logFailures) anchor(rec trainlog.Recording) (marks []sampler.LogMark, zone string, err error) {
	if l.name == "-" {
		return nil, "", nil
	}
	var lines []int
	for _, e := range l.events {
		lines = append(lines, e.Line)
	}
	file, err := os.Open(l.name)
	if err != nil {
		return nil, "", fmt.Errorf("the log cannot be read: %w", err)
	}
	defer file.Close() //nolint:errcheck // only read
	log, err := trainlog.Scan(tape.Text(file), lines)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", l.name, err)
	}
	marks, l.times, zone = log.Anchor(rec)
	return marks, zone, nil
}

// timed are the failures with what the log tells of their times and its name of their rank.
func (l *logFailures) timed() (list []report.LogFailure) {
	for _, e := range l.events {
		t := l.times[e.Line]
		e.Rank = e.Rank.Else(rankOfLog(l.name))
		list = append(list, report.LogFailure{Event: e, Time: t.Exact, Since: t.Before, Until: t.After})
	}
	return list
}
