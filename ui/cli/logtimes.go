package cli

import (
	"fmt"
	"os"

	"nvpeak/advice/report"
	"nvpeak/sampler"
	"nvpeak/sampler/trainlog"
)

// readTimes reads when things happened in a log: its marks, and the times of the lines of its failures.
func readTimes(name string, events []sampler.OOMEvent, rec trainlog.Recording) (marks []sampler.LogMark, times map[int]trainlog.LineTime, note string, err error) {
	var lines []int
	for _, e := range events {
		lines = append(lines, e.Line)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, nil, "", fmt.Errorf("the log cannot be read: %w", err)
	}
	defer file.Close() //nolint:errcheck // only read
	log, err := trainlog.Scan(file, lines)
	if err != nil {
		return nil, nil, "", fmt.Errorf("%s: %w", name, err)
	}
	marks, times, note = log.Anchor(rec)
	return marks, times, note, nil
}

// recordingOf is what the times of a log are compared with.
func recordingOf(outline *report.Reporter) trainlog.Recording {
	rec := trainlog.Recording{}
	rec.Start, rec.End, _ = outline.Span()
	for _, x := range outline.Exits() {
		rec.Ends = append(rec.Ends, x.Time)
	}
	return rec
}

// failureAt is a failure with the time of its line.
func failureAt(e sampler.OOMEvent, t trainlog.LineTime) report.LogFailure {
	return report.LogFailure{Event: e, Time: t.Exact, After: t.Before, Before: t.After}
}
