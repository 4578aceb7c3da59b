package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"nvpeak/advice/report"
	"nvpeak/sampler"
	"nvpeak/sampler/redact"
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
		Long: "report reads recordings of nvpeak and logs of nvidia-smi and gpustat (plain, gzip or zstd) and says\n" +
			"what happened: peaks with their time, who held what, growth, spikes, the alerts that the monitor would\n" +
			"have raised, causes and advice. The parts of a rotated recording are read as one, other files as several\n" +
			"hosts; a directory stands for what is in it. --log adds the log of the training.",
		Example: "  nvpeak report run.jsonl.zst\n  nvpeak report --log train.log --html report.html run.jsonl.zst\n  nvpeak report --compare before.jsonl.zst after.jsonl.zst",
		RunE: func(cmd *cobra.Command, args []string) error {
			return interruptible(cmd.Context(), func() error { return a.reportFiles(cmd.Context(), args, f) })
		},
	}
	c.Flags().BoolVar(&f.json, "json", false, "as JSON")
	c.Flags().StringVar(&f.html, "html", "", "write one page for a browser, that needs nothing else, to `FILE` (- for standard output)")
	c.Flags().BoolVar(&f.compare, "compare", false, "compare two recordings: before and after")
	a.opt.bind(c.Flags(), "gpu", "need", "interval", "gpu-levels", "host-levels", "log", "lang", "ascii", "no-color")
	return c
}

func (a *app) reportFiles(ctx context.Context, names []string, f *reportFlags) error {
	switch {
	case len(names) == 0:
		return usagef("report on what? name a recording, or a log of nvidia-smi or gpustat")
	case f.json && f.html != "":
		return usagef("--json and --html exclude each other")
	}
	if done, err := a.openBoxes(ctx, names, f.json); done || err != nil {
		return err
	}
	recordings, err := a.inputs(names)
	switch {
	case err != nil:
		return err
	case f.compare && len(recordings) != 2:
		return usagef("--compare takes two recordings, before and after; %d given", len(recordings))
	case slices.ContainsFunc(append(files(recordings), a.opt.log), func(read string) bool { return sameFile(f.html, read) }):
		return usagef("--html %s would overwrite what the report reads: choose another name", f.html)
	}
	leanReading()
	var reports []report.Report
	for _, from := range recordings {
		r, err := a.readReport(from)
		if err != nil {
			return err
		}
		reports = append(reports, r)
	}
	return a.writeReports(ctx, files(recordings), reports, f)
}

func (a *app) writeReports(ctx context.Context, files []string, reports []report.Report, f *reportFlags) error {
	if f.html != "" {
		return a.writePage(ctx, f.html, modeFor(files), func(w io.Writer) error { return plain.ReportHTML(w, reports) })
	}
	out := bufio.NewWriter(a.out)
	var err error
	switch {
	case f.compare && f.json:
		err = plain.IndentedJSON(out, struct {
			Schema  int                 `json:"schema"`
			Compare []report.Comparison `json:"compare"`
			Before  report.Report       `json:"before"`
			After   report.Report       `json:"after"`
		}{sampler.Schema, report.Compare(reports[0], reports[1]), reports[0], reports[1]})
	case f.compare:
		err = plain.CompareText(out, reports[0], reports[1], a.reportOptions())
	case f.json && len(reports) == 1:
		err = plain.IndentedJSON(out, tried{reports[0], metaBeside(files[0]).Retry})
	case f.json:
		err = plain.IndentedJSON(out, struct {
			Schema  int             `json:"schema"`
			Reports []report.Report `json:"reports"`
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

// writePage writes the page and says so: where it went and how large it is.
func (a *app) writePage(ctx context.Context, name string, mode os.FileMode, write func(io.Writer) error) error {
	var page bytes.Buffer // written at once, so that a signal leaves no half of it
	err := cmp.Or(write(&page), context.Cause(ctx))
	if err == nil {
		err = a.writeFile(name, mode, page.Bytes())
	}
	if err != nil || name == "-" {
		return err
	}
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
		a.say(fmt.Sprintf("wrote %s, %s", name, sampler.Bytes(info.Size())))
	}
	return nil
}

func (a *app) reportOptions() plain.ReportOptions {
	return plain.ReportOptions{Options: a.textOptions(), Plot: ui.PlotText}
}

// readReport reads one recording, with the training log where one was named. Whatever it
// quotes, it is without secrets.
func (a *app) readReport(from input) (report.Report, error) {
	if err := checkSelection(from); err != nil {
		return report.Report{}, err
	}
	o := report.Options{Source: filepath.Base(from.Name), Need: a.opt.need.Opt, Lang: string(a.opt.lang), Log: a.opt.log, Levels: a.levels()}
	if a.opt.log == "" {
		o.Explained = metaBeside(from.Name).Explanation
	}
	log := trainingLog{}
	if a.opt.log != "" {
		var err error
		if log, err = a.trainingLog(from, o); err != nil {
			return report.Report{}, err
		}
	}
	r := report.New(o)
	notes, err := foldTape(from, a.words().Say, r, log)
	if err != nil {
		return report.Report{}, err
	}
	for _, n := range append(notes, log.notes...) {
		r.Note(n)
	}
	return redact.Copy(r.Report()), nil
}

// trainingLog reads the log that --log names.
func (a *app) trainingLog(recording input, o report.Options) (log trainingLog, err error) {
	l, err := a.scanFile(a.opt.log)
	if err == nil && l.snapshot != nil {
		err = usagef("--log %s is a memory snapshot, no log: nvpeak explain reads it", a.opt.log)
	}
	if err != nil {
		return log, err
	}
	if log, err = a.placeLogs(recording, []logFailures{l}, o); err != nil {
		return log, err
	}
	if l.note != "" {
		log.notes = append(log.notes, l.note)
	}
	if l.others > 0 {
		log.notes = append(log.notes, a.words().Say("verdict.omitted", "count", l.others))
	}
	return log, nil
}

// modeFor is the mode of a page about recordings: it tells what they tell, so only their owner may read
// it where only he may read one of them.
func modeFor(files []string) os.FileMode {
	for _, name := range files {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 == 0 {
			return 0o600
		}
	}
	return 0o666
}

// createPage opens a file to be written anew, through no symbolic link: a name in /tmp can be
// somebody's trap.
func createPage(name string, mode os.FileMode) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, mode)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("%s is a symbolic link: name the file itself, or - for standard output", name)
	}
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && mode == 0o600 && info.Mode().IsRegular() {
		err = file.Chmod(mode) // it may have been there before
	}
	if err != nil {
		file.Close() //nolint:errcheck // nothing was written
		return nil, err
	}
	return file, nil
}

// writeFile writes a whole file, or standard output for "-".
func (a *app) writeFile(name string, mode os.FileMode, text []byte) error {
	if name == "-" {
		_, err := a.out.Write(text)
		return err
	}
	file, err := createPage(name, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return cmp.Or(err, file.Close())
}
