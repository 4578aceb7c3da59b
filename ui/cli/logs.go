package cli

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"time"

	"nvpeak/advice/report"
	"nvpeak/sampler"
	"nvpeak/sampler/oomlog"
	"nvpeak/sampler/post"
	"nvpeak/sampler/tape"
	"nvpeak/sampler/torchsnap"
	"nvpeak/sampler/trainlog"
)

// logFailures are the failures of one log.
type logFailures struct {
	name     string
	note     string // what is wrong with it
	events   []sampler.OOMEvent
	others   int                       // further failures, which are only counted
	times    map[int]trainlog.LineTime // by line; nil where they are not known
	snapshot *sampler.TorchSnapshot    // it is one of PyTorch's memory, and no log
}

// nameRank is a rank in the name of a log: rank3.log, rank_3.err, and 3/stderr.log of torchrun.
var nameRank = sampler.Pattern{Source: `(?i)(?:rank|worker|local)[-_.]?(\d{1,4})(?:\D[^/]*)?$|(?:^|/)(\d{1,4})/std(?:err|out)(?:\.log)?$`}

// rankOfLog is the rank that a log's name tells.
func rankOfLog(name string) sampler.Opt[int] {
	at := nameRank.Get().FindStringSubmatch(name)
	if at == nil {
		return sampler.Opt[int]{}
	}
	n, err := strconv.Atoi(cmp.Or(at[1], at[2]))
	if err != nil {
		return sampler.Opt[int]{}
	}
	return sampler.Some(n)
}

// loggedEvent is a failure, where it was printed and when.
type loggedEvent struct {
	event sampler.OOMEvent
	file  string
	at    time.Time
}

// mergeLogs makes the failures of several logs those of one run: in the order of their times as far as
// the logs tell them, each once, with the rank that a log's name tells. Those beyond maxFailures are only
// counted.
func mergeLogs(logs []logFailures) (events []sampler.OOMEvent, files []string, others int) {
	all := joinLogs(logs)
	if !slices.ContainsFunc(all, func(o loggedEvent) bool { return o.at.IsZero() }) {
		slices.SortStableFunc(all, func(a, b loggedEvent) int { return a.at.Compare(b.at) })
	}
	for _, o := range all {
		events = append(events, o.event)
	}
	chosen := oomlog.Choose(events, maxFailures)
	others = len(events) - len(chosen)
	for _, l := range logs {
		others += l.others
	}
	for n, i := range chosen {
		events[n] = events[i]
		if len(logs) > 1 {
			files = append(files, sampler.Clean(all[i].file))
		}
	}
	return events[:len(chosen)], files, others
}

// joinLogs lists the failures of logs, one that several of them print once.
func joinLogs(logs []logFailures) (all []loggedEvent) {
	printed := map[string][]int{} // text → indices
	for _, l := range logs {
		last := time.Time{}
		for _, e := range l.events {
			e.Rank = e.Rank.Else(rankOfLog(l.name))
			t := l.times[e.Line]
			last = t.Exact.Or(t.Before.Or(last)) // one without a time comes after the one before it
			same := func(i int) bool { return all[i].file != l.name && all[i].event.SameInLogs(&e) }
			if i := slices.IndexFunc(printed[e.Text], same); i >= 0 {
				all[printed[e.Text][i]].event.Occurrences += e.Occurrences
				continue
			}
			printed[e.Text] = append(printed[e.Text], len(all))
			all = append(all, loggedEvent{e, l.name, last})
		}
	}
	return all
}

// maxFailures are explained of one run: more than anybody reads, and their JSON is 2 MB.
const maxFailures = 200

// ended is a terminal whose end was typed: it is the end for good, and the next read would wait for more.
type ended struct {
	io.Reader
	err error
}

func (e *ended) Read(p []byte) (n int, err error) {
	if e.err == nil {
		n, e.err = e.Reader.Read(p)
	}
	return n, e.err
}

// scanFile finds the failures in a log, - for standard input, and counts those beyond maxFailures.
func (a *app) scanFile(name string) (l logFailures, err error) {
	l.name = name
	var in io.Reader = &ended{Reader: a.in}
	if name != "-" {
		if err := readable(name); err != nil {
			return l, err
		}
		file, err := os.Open(name)
		if err != nil {
			return l, fmt.Errorf("the log cannot be read: %w", err)
		}
		defer file.Close()
		in = file
	}
	text := bufio.NewReaderSize(in, 64<<10)
	start, _ := text.Peek(8)
	if command := tape.Unpacker(start); command != "" {
		return l, fmt.Errorf("%s: its compression is not read here: pipe it through %s", name, command)
	}
	if kind := kindOfInput(text); kind != torchsnap.Other || namedPickle(name) {
		return a.scanSnapshot(l, text, kind)
	}
	var head post.Head
	var survival trainlog.Survival
	l.events, l.others, err = oomlog.ScanUpTo(io.TeeReader(tape.Text(text), io.MultiWriter(&head, &survival)), maxFailures)
	if errors.Is(err, tape.ErrMuch) {
		l.note, err = a.words().Say("log.much", "file", sampler.Clean(name)), nil
	}
	if err != nil {
		return l, fmt.Errorf("%s: %w", name, err)
	}
	l.events = survival.Judge(l.events, false)
	l.events = head.Read(l.events, oomlog.Scan)
	if status := head.Disguise(); status != "" && len(l.events) == 0 && l.note == "" {
		l.note = a.words().Say("log.disguised", "status", sampler.Clean(status))
		if head.TensorFlow() {
			l.note += a.words().Say("log.disguised.grow")
		}
	}
	if fault := head.Fault(); fault != "" && len(l.events) == 0 && l.note == "" {
		l.note = a.words().Say("log.fault", "fault", sampler.Clean(fault))
	}
	return l, nil
}

// anchor reads when the failures of a log happened, and what else its times tell. Standard input
// and pipes cannot be read twice.
func (l *logFailures) anchor(rec trainlog.Recording) (marks []sampler.LogMark, zone string, err error) {
	if info, err := os.Stat(l.name); l.name == "-" || err == nil && !info.Mode().IsRegular() {
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
	if err != nil && !errors.Is(err, tape.ErrMuch) {
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

// followable says what is wrong with a log that is to be followed.
func (a *app) followable() error {
	if a.opt.log == "" {
		return nil
	}
	if err := oomlog.Followable(a.opt.log); err != nil {
		return usagef("--log %s: %w", a.opt.log, err)
	}
	return nil
}
