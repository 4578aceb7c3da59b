package cli

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"nvpeak/advice/lang"
	"nvpeak/advice/report"
	"nvpeak/sampler"
	"nvpeak/sampler/tape"
	"nvpeak/sampler/trainlog"
	"nvpeak/ui/player"
)

// trainingLog is what the logs of a run tell, on the timeline of a recording.
type trainingLog struct {
	all      []report.LogFailure
	failures []report.LogFailure // those that the recording does not have
	marks    []sampler.LogMark
	notes    []string
}

// placeLogs places what logs tell on the timeline of a recording.
func (a *app) placeLogs(from input, logs []logFailures, o report.Options) (log trainingLog, err error) {
	outline, rec, err := outlineTape(from, o)
	if err != nil {
		return log, err
	}
	for i := range logs {
		l := &logs[i]
		if l.snapshot != nil {
			continue
		}
		marks, zone, err := l.anchor(rec)
		if err != nil {
			return log, err
		}
		if zone != "" {
			log.notes = append(log.notes, a.words().Say("report.zone", "zone", zone))
		}
		log.marks = append(log.marks, marks...)
		log.all = append(log.all, l.timed()...)
	}
	slices.SortStableFunc(log.marks, func(x, y sampler.LogMark) int { return x.Time.Or(time.Time{}).Compare(y.Time.Or(time.Time{})) })
	log.failures = outline.PlaceFailures(log.all)
	return log, nil
}

// foldTape reads a recording into a report, with what logs tell at its time. It returns what was wrong with the recording.
func foldTape(from input, say tape.Say, r *report.Reporter, log trainingLog) (notes []string, err error) {
	r.Marks(log.marks)
	r.Logged(log.all)
	failures := log.failures
	in, err := openRecording(from)
	if err != nil {
		return nil, err
	}
	defer in.Close() //nolint:errcheck // it was only read
	if in.head != nil {
		r.SetNeed(in.head.Need)
	}
	next := func(until time.Time, all bool) {
		for len(failures) > 0 {
			at, _ := failures[0].Time.Value()
			if !all && !at.Before(until) {
				return
			}
			r.OOM(failures[0].Event, at, "log")
			failures = failures[1:]
		}
	}
	for {
		record, err := in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		switch {
		case record.Snapshot != nil:
			if _, _, began := r.Span(); began {
				next(record.Snapshot.Time, false)
			}
			r.Snapshot(record.Snapshot)
		case record.Event != nil:
			foldEvent(r, record.Event, in)
		default:
			foldReadings(r, record, in)
		}
	}
	if _, _, began := r.Span(); !began {
		return nil, noSnapshots(from.Name, in.Notes(say))
	}
	next(time.Time{}, true)
	return in.Notes(say), nil
}

// readingRoom is the memory from which on garbage is collected at once, in commands that read files: a
// hostile one makes much of it, and the training next to it needs the memory. GOMEMLIMIT overrides it.
const readingRoom = 192 << 20

func leanReading() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(readingRoom)
	}
}

// noSnapshots is the error of a recording in which there is nothing, with what is wrong with it.
func noSnapshots(name string, notes []string) error {
	err := fmt.Errorf("%s: %w", name, player.ErrNoSnapshots)
	if len(notes) > 0 {
		err = fmt.Errorf("%w: %s", err, strings.Join(notes, "; "))
	}
	return err
}

func foldEvent(r *report.Reporter, e *tape.Event, in *recording) {
	if e.Kind == tape.KindOOM && e.OOM != nil {
		r.OOM(*e.OOM, e.Time, "recording")
		return
	}
	if e.Kind == tape.KindNeed {
		r.SetNeed(e.Need)
	}
	out := report.Event{Time: e.Time, Kind: e.Kind, PID: e.PID, XID: e.XID, Duration: e.Dur, Text: sampler.Clean(e.Text), From: "recording"}
	if n, ok := e.GPU.Value(); ok {
		if g := in.gpuAt(n); g != nil {
			n = g.Index
		}
		out.GPU = sampler.Some(n)
	}
	r.Event(out)
}

func foldReadings(r *report.Reporter, record *tape.Record, in *recording) {
	for _, reading := range record.Readings {
		if g := in.gpuAt(reading.Device); g != nil {
			r.Reading(g.Key(), record.Time, reading.Used)
		}
	}
}

// outlineTape reads a recording once to know when it was and when its jobs ended, so that
// failures in logs find their place on its timeline.
func outlineTape(from input, o report.Options) (*report.Reporter, trainlog.Recording, error) {
	o.Outline = true
	outline := report.New(o)
	rec := trainlog.Recording{}
	if _, err := foldTape(from, lang.English().Say, outline, trainingLog{}); err != nil {
		return nil, rec, err
	}
	rec.Start, rec.End, _ = outline.Span()
	for _, s := range outline.ClockSets() {
		rec.Sets = append(rec.Sets, trainlog.Set(s))
	}
	for _, x := range outline.Exits() {
		rec.Ends = append(rec.Ends, x.Time)
	}
	return outline, rec, nil
}
