package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"nvpeak/advice"
	"nvpeak/sampler"
	"nvpeak/sampler/tape"
	"nvpeak/sampler/trainlog"
	"nvpeak/ui"
	"nvpeak/ui/plain"
)

// reportFlags say what becomes of a report.
type reportFlags struct {
	json    bool
	html    string
	compare bool
}

func reportCommand(a *app) *cobra.Command {
	f := &reportFlags{}
	c := &cobra.Command{
		Use:   "report FILE…",
		Short: "what happened in a recording or an nvidia-smi log: peaks, timeline, alerts, causes, advice",
		Long: "report reads recordings of nvpeak and CSV logs of nvidia-smi (plain, gzip or zstd) and says what\n" +
			"happened: peaks with their time, who held what, growth, spikes, the alerts that the monitor would\n" +
			"have raised, causes and advice. Several files are several hosts. --log adds the log of the training.",
		Example: "  nvpeak report run.jsonl.zst\n  nvpeak report --log train.log --html report.html run.jsonl.zst\n  nvpeak report --compare before.jsonl.zst after.jsonl.zst",
		RunE:    func(_ *cobra.Command, args []string) error { return a.reportFiles(args, f) },
	}
	c.Flags().BoolVar(&f.json, "json", false, "as JSON")
	c.Flags().StringVar(&f.html, "html", "", "write one page for a browser, that needs nothing else, to `FILE` (- for standard output)")
	c.Flags().BoolVar(&f.compare, "compare", false, "compare two recordings: before and after")
	return c
}

func (a *app) reportFiles(files []string, f *reportFlags) error {
	switch {
	case a.opt.badEnv != nil:
		return a.opt.badEnv
	case len(files) == 0:
		return usagef("report on what? name a recording or a CSV log of nvidia-smi")
	case f.compare && len(files) != 2:
		return usagef("--compare takes two recordings, before and after; %d given", len(files))
	case f.json && f.html != "":
		return usagef("--json and --html exclude each other")
	}
	var reports []advice.Report
	for _, name := range files {
		r, err := a.readReport(name)
		if err != nil {
			return err
		}
		reports = append(reports, r)
	}
	return a.writeReports(reports, f)
}

func (a *app) writeReports(reports []advice.Report, f *reportFlags) error {
	if f.html != "" {
		return a.writeFile(f.html, func(w io.Writer) error { return plain.ReportHTML(w, reports) })
	}
	out := bufio.NewWriter(a.out)
	var err error
	switch {
	case f.compare && f.json:
		err = plain.ReportJSON(out, struct {
			Schema  int                 `json:"schema"`
			Compare []advice.Comparison `json:"compare"`
			Before  advice.Report       `json:"before"`
			After   advice.Report       `json:"after"`
		}{sampler.Schema, advice.Compare(reports[0], reports[1]), reports[0], reports[1]})
	case f.compare:
		err = plain.CompareText(out, reports[0], reports[1], a.reportOptions())
	case f.json && len(reports) == 1:
		err = plain.ReportJSON(out, reports[0])
	case f.json:
		err = plain.ReportJSON(out, struct {
			Schema  int             `json:"schema"`
			Reports []advice.Report `json:"reports"`
		}{sampler.Schema, reports})
	default:
		for i, r := range reports {
			if i > 0 {
				fmt.Fprintln(out)
			}
			if err = plain.ReportText(out, r, a.reportOptions()); err != nil {
				break
			}
		}
	}
	if err != nil {
		return err
	}
	return out.Flush()
}

func (a *app) reportOptions() plain.ReportOptions {
	return plain.ReportOptions{ExplainOptions: a.explainOptions(), Plot: ui.PlotText}
}

// keepGPU says which GPUs the flag --gpu leaves in a recording.
func (a *app) keepGPU() func(*sampler.GPU) bool {
	if len(a.opt.gpus) == 0 {
		return nil
	}
	return func(g *sampler.GPU) bool {
		return contains(a.opt.gpus, g.Label()) || contains(a.opt.gpus, fmt.Sprint(g.Index)) || g.UUID != "" && contains(a.opt.gpus, g.UUID) ||
			g.PCI != "" && contains(a.opt.gpus, g.PCI)
	}
}

// readReport reads one recording, with the training log where one was named.
func (a *app) readReport(name string) (advice.Report, error) {
	o := advice.ReportOptions{Source: filepath.Base(name), Need: a.opt.need.Opt, Redact: tape.Redact, Keep: a.keepGPU()}
	var placed []advice.LogFailure
	var marks []sampler.LogMark
	var notes []string
	if a.opt.log != "" {
		o.Outline = true
		outline := advice.NewReporter(o)
		o.Outline = false
		if _, err := foldTape(name, outline, nil); err != nil {
			return advice.Report{}, err
		}
		var err error
		if placed, marks, notes, err = a.trainingLog(outline); err != nil {
			return advice.Report{}, err
		}
	}
	r := advice.NewReporter(o)
	told, err := foldTape(name, r, placed)
	if err != nil {
		return advice.Report{}, err
	}
	r.Marks(marks)
	for _, n := range append(told, notes...) {
		r.Note(n)
	}
	return r.Report(), nil
}

// errNoSnapshots is a recording with which nothing can be said.
var errNoSnapshots = errors.New("the recording holds no snapshot")

// foldTape reads a recording into a report, with the failures of the log at their times.
// It returns what was wrong with the recording.
func foldTape(name string, r *advice.Reporter, failures []advice.LogFailure) (notes []string, err error) {
	in, err := tape.Open(name)
	if err != nil {
		return nil, err
	}
	defer in.Close() //nolint:errcheck // it was only read
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
	head := in.Header()
	if head != nil {
		r.SetNeed(head.Need)
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
		case record.Header != nil:
			head = record.Header
		case record.Snapshot != nil:
			if _, _, began := r.Span(); began {
				next(record.Snapshot.Time, false)
			}
			r.Snapshot(record.Snapshot)
		case record.Event != nil:
			foldEvent(r, record.Event, head)
		default:
			foldReadings(r, record, head)
		}
	}
	if _, _, began := r.Span(); !began {
		return nil, fmt.Errorf("%s: %w", name, errNoSnapshots)
	}
	next(time.Time{}, true)
	return in.Notes(), nil
}

func foldEvent(r *advice.Reporter, e *tape.Event, head *tape.Header) {
	if e.Kind == tape.KindOOM && e.OOM != nil {
		r.OOM(*e.OOM, e.Time, "recording")
		return
	}
	if e.Kind == tape.KindNeed {
		r.SetNeed(e.Need)
	}
	out := advice.ReportEvent{Time: e.Time, Kind: e.Kind, PID: e.PID, XID: e.XID, Duration: e.Dur, Text: sampler.Clean(e.Text), From: "recording"}
	if n, ok := e.GPU.Value(); ok {
		if head != nil && n >= 0 && n < len(head.GPUs) {
			n = head.GPUs[n].Index
		}
		out.GPU = sampler.Some(n)
	}
	r.Event(out)
}

func foldReadings(r *advice.Reporter, record *tape.Record, head *tape.Header) {
	if head == nil {
		return
	}
	for _, reading := range record.Readings {
		if reading.Device < len(head.GPUs) {
			d := &head.GPUs[reading.Device]
			r.Reading((&sampler.GPU{Index: d.Index, UUID: d.UUID, MIG: d.MIG}).Key(), record.Time, reading.Used)
		}
	}
}

// trainingLog reads the log and puts what it tells on the timeline of the recording.
func (a *app) trainingLog(outline *advice.Reporter) (placed []advice.LogFailure, marks []sampler.LogMark, notes []string, err error) {
	events, err := a.scanFile(a.opt.log)
	if err != nil {
		return nil, nil, nil, err
	}
	var lines []int
	for _, e := range events {
		lines = append(lines, e.Line)
	}
	file, err := os.Open(a.opt.log)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("the log cannot be read: %w", err)
	}
	defer file.Close()
	log, err := trainlog.Scan(file, lines)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%s: %w", a.opt.log, err)
	}
	rec := trainlog.Recording{}
	rec.Start, rec.End, _ = outline.Span()
	for _, x := range outline.Exits() {
		rec.Ends = append(rec.Ends, x.Time)
	}
	marks, times, note := log.Anchor(rec)
	if note != "" {
		notes = append(notes, note)
	}
	at := map[int]trainlog.LineTime{}
	for _, t := range times {
		at[t.Line] = t
	}
	var list []advice.LogFailure
	for _, e := range events {
		t := at[e.Line]
		list = append(list, advice.LogFailure{Event: e, Time: t.Exact, After: t.Before, Before: t.After})
	}
	return outline.PlaceFailures(list), marks, notes, nil
}

// writeFile writes a whole file, or standard output for "-".
func (a *app) writeFile(name string, write func(io.Writer) error) error {
	if name == "-" {
		out := bufio.NewWriter(a.out)
		if err := write(out); err != nil {
			return err
		}
		return out.Flush()
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(file)
	err = write(out)
	return errors.Join(err, out.Flush(), file.Close())
}
