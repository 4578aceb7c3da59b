package cli

import (
	"bufio"
	"context"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"nvpeak/advice/explain"
	"nvpeak/advice/report"
	"nvpeak/sampler"
	"nvpeak/sampler/redact"
	"nvpeak/sampler/trainlog"
	"nvpeak/ui/plain"
)

// explainFlags are what is known of the run besides its log.
type explainFlags struct {
	json      bool
	html      string
	command   string
	env       []string
	gpu       string
	recording string
	details   bool
}

func explainCommand(a *app) *cobra.Command {
	f := &explainFlags{}
	c := &cobra.Command{
		Use:   "explain [FILE…|-]",
		Short: "explain the out-of-memory errors in logs: what happened, why, what to change",
		Long: "explain reads training logs (standard input by default) and says of every out-of-memory\n" +
			"failure in them what happened, why, with which numbers, and what to change first. Memory snapshots\n" +
			"of PyTorch (torch.cuda.memory._dump_snapshot) are read too; they name the line of code.",
		Example: "  nvpeak explain train.log\n  nvpeak explain --recording run.jsonl.zst train.log\n  nvpeak explain rank*.log\n  nvpeak explain --command \"$(history | tail -2 | head -1)\" train.log\n  python train.py 2>&1 | tee train.log; nvpeak explain train.log",
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("gpu") && f.recording == "" {
				return usagef("--gpu chooses GPUs of a recording: add --recording FILE")
			}
			if f.json && f.html != "" {
				return usagef("--json and --html exclude each other")
			}
			if slices.ContainsFunc(args, func(read string) bool { return sameFile(f.html, read) }) {
				return usagef("--html %s would overwrite what explain reads: choose another name", f.html)
			}
			return interruptible(cmd.Context(), func() error { return a.explain(cmd.Context(), args, f) })
		},
	}
	c.Flags().BoolVar(&f.json, "json", false, "as JSON")
	c.Flags().StringVar(&f.html, "html", "", "write one page for a browser, that needs nothing else, to `FILE` (- for standard output)")
	c.Flags().StringVar(&f.command, "command", "", "the command `LINE` of the run, so that advice edits what was really typed")
	c.Flags().StringArrayVar(&f.env, "env", nil, "a variable of its environment, `NAME=VALUE`; may be repeated")
	c.Flags().BoolVar(&f.details, "details", false, "everything: the reasons, all advice, and where it comes from")
	c.Flags().StringVar(&f.recording, "recording", "", "a recording of the run, which shows who held what: a `FILE` of nvpeak record or a CSV log of nvidia-smi")
	c.Flags().StringVar(&f.gpu, "gpu-name", "", "the `NAME` of its GPU, such as \"NVIDIA A100\", where the log does not say")
	a.opt.bind(c.Flags(), "gpu", "lang", "ascii", "no-color")
	return c
}

// pipedRows: what is piped is as short as on a small terminal.
const pipedRows = 24

func (a *app) explain(ctx context.Context, files []string, f *explainFlags) error {
	env, err := variables(f.env)
	if err != nil {
		return err
	}
	leanReading()
	logs, err := a.scan(files, f.recording != "")
	if err != nil {
		return err
	}
	command := sampler.Clean(f.command)
	if a.leaves() { // before advice is put between a name and its value
		command = redact.Text(command)
	}
	in := explain.Incident{Command: command, Environment: env, GPUName: sampler.Clean(f.gpu), Lang: string(a.opt.lang)}
	in.Events, in.Files, in.Omitted = mergeLogs(logs)
	addSnapshots(&in, logs)
	if f.recording != "" {
		if in, err = a.recall(in, logs, f.recording); err != nil {
			return err
		}
	}
	e := explain.Explain(in)
	if a.leaves() {
		e = redact.Copy(e)
	}
	if f.html != "" {
		return a.writePage(ctx, f.html, modeFor(files), func(w io.Writer) error { return plain.ExplainHTML(w, e) })
	}
	out := bufio.NewWriter(a.out)
	if f.json {
		err = plain.IndentedJSON(out, e)
	} else {
		o := a.textOptions()
		switch {
		case f.details:
			o.Rows = 0
		case o.Rows == 0:
			o.Rows = pipedRows
		}
		err = plain.Explain(out, e, o)
	}
	if err != nil {
		return err
	}
	return out.Flush()
}

// scan finds the failures in all files: they are one run, as the logs of its ranks are.
// recorded: there is a recording too, which may hold failures itself.
func (a *app) scan(files []string, recorded bool) ([]logFailures, error) {
	if len(files) == 0 {
		if in, ok := a.in.(*os.File); ok && term.IsTerminal(int(in.Fd())) {
			if recorded {
				return nil, nil
			}
			a.say(a.words().Say("explain.paste"))
		}
		files = []string{"-"}
	}
	if a.env("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(logGarbage))
	}
	var logs []logFailures
	for _, name := range files {
		l, err := a.scanFile(name)
		if err != nil {
			return nil, err
		}
		if l.note != "" {
			a.say(l.note)
		}
		if len(files) > 1 && len(l.events) > 0 { // their order is that of their times
			if _, _, err = l.anchor(trainlog.Recording{}); err != nil {
				return nil, err
			}
		}
		logs = append(logs, l)
	}
	return logs, nil
}

// logGarbage is how much garbage there may be while logs are read, in percent of what lives: a log of nothing but failures
// makes 80 to 210 MB of it for each 10 MB and keeps 25 MB at most, so that 90 MB are resident, not 75.
const logGarbage = 200

func variables(list []string) (map[string]string, error) {
	env := map[string]string{}
	for _, s := range list {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return nil, usagef("--env %q is not NAME=VALUE", s)
		}
		env[sampler.Clean(name)] = sampler.Clean(value)
	}
	return env, nil
}

// recall adds what a recording shows of the failures to an incident.
func (a *app) recall(in explain.Incident, logs []logFailures, name string) (explain.Incident, error) {
	from := one(name, a.recorded())
	if err := checkSelection(from); err != nil {
		return in, err
	}
	o := report.Options{Lang: string(a.opt.lang)}
	log, err := a.placeLogs(from, logs, o)
	if err != nil {
		return in, err
	}
	r := report.New(o)
	if _, err := foldTape(from, a.words().Say, r, log); err != nil {
		return in, err
	}
	return r.Recall(in), nil
}
