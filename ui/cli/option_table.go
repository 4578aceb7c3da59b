package cli

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"nvpeak/advice/lang"
	"nvpeak/sampler/demo"
	"nvpeak/theme"
)

// option is one row: flag, environment variable, help. A new option is one row, and its name
// where a command binds it.
type option struct {
	flag, short, env, help string
	value                  pflag.Value
	optional               string // value of the flag without one; empty: it needs one
}

func (o *options) table() []option {
	return []option{
		{"gpu", "i", "NVPEAK_GPU", "only these GPUs: `LIST` of indices, UUIDs or PCI bus ids, separated by commas", (*listFlag)(&o.gpus), ""},
		{"need", "", "NVPEAK_NEED", "what the next allocation needs, a `SIZE` such as 15.8GiB", &o.need, ""},
		{"interval", "", "NVPEAK_INTERVAL", "time between snapshots, a `DURATION` from 100ms to 1h", durationFlag{&o.interval, 100 * time.Millisecond, time.Hour}, ""},
		{"peak-interval", "", "NVPEAK_PEAK_INTERVAL", "time between memory readings, a `DURATION` from 1ms to 10s", durationFlag{&o.peakInterval, time.Millisecond, 10 * time.Second}, ""},
		{"demo", "", "NVPEAK_DEMO", "scripted GPUs: a `SCENARIO` of " + strings.Join(scenarioNames(), ", ") + "; list names them", &o.demo, demo.Default},
		{"log", "", "NVPEAK_LOG", "the `LOG` of the training: its out-of-memory errors are shown with their advice", (*textFlag)(&o.log), ""},
		{"record", "", "NVPEAK_RECORD", "record to a new `FILE` at the same time: .jsonl, or compressed .jsonl.zst", (*textFlag)(&o.record), ""},
		{"notify", "", "NVPEAK_NOTIFY", "announce new critical alerts by `HOW`: bell, desktop, or both with a comma", &o.notify, ""},
		{"on-alert", "", "NVPEAK_ON_ALERT", "run a shell `COMMAND` on each new critical alert, its JSON on standard input", (*textFlag)(&o.onAlert), ""},
		{"webhook", "", "NVPEAK_WEBHOOK", "post the JSON of each new critical alert to a `URL`", (*textFlag)(&o.webhook), ""},
		{"webhook-private", "", "NVPEAK_WEBHOOK_PRIVATE", "allow a webhook on loopback and private addresses", (*boolFlag)(&o.webhookLocal), "true"},
		{"nvml-lib", "", "NVPEAK_NVML", "the driver library, a `PATH` or a name for dlopen", (*textFlag)(&o.library), ""},
		{"requests", "", "NVPEAK_REQUESTS", "see what processes ask the driver for: `WHEN` is auto (where it is allowed), on or off", &o.requests, ""},
		{"theme", "", "NVPEAK_THEME", "colors: `NAME` is one of " + strings.Join(theme.Names(), ", "), &o.theme, ""},
		{"lang", "", "NVPEAK_LANG", "language of what is said to people: `LANG` is " + strings.Join(lang.Names(), " or ") + " (otherwise that of the locale, or en)", &o.lang, ""},
		{"ascii", "", "NVPEAK_ASCII", "draw with ASCII characters only", (*boolFlag)(&o.ascii), "true"},
		{"no-color", "", "NVPEAK_NO_COLOR", "no colors (as any non-empty NO_COLOR)", (*boolFlag)(&o.noColor), "true"},
		{"plot", "", "NVPEAK_PLOT", "how plots are drawn: `FORM` is area or line", &o.plot, ""},
		{"no-mouse", "", "NVPEAK_NO_MOUSE", "leave the mouse to the terminal", (*boolFlag)(&o.noMouse), "true"},
		{"readonly", "", "NVPEAK_READONLY", "no way to signal a process", (*boolFlag)(&o.readonly), "true"},
	}
}

// measuring are the options of every command that reads GPUs.
var measuring = []string{"gpu", "peak-interval", "demo", "nvml-lib"}

// bind declares the options of those names as flags of a command. What a command does not
// bind it refuses, and it does not read its environment variable.
func (o *options) bind(fs *pflag.FlagSet, names ...string) {
	o.interval, o.peakInterval = time.Second, 20*time.Millisecond
	for _, row := range o.table() {
		if slices.Contains(names, row.flag) {
			if row.flag == "requests" {
				o.requests = requestsAuto
			}
			fs.VarPF(row.value, row.flag, row.short, row.help).NoOptDefVal = row.optional
		}
	}
}

// read takes from the environment what no flag of a command has set.
func (o *options) read(fs *pflag.FlagSet, env func(string) string) error {
	if o.lang == "" {
		o.lang = langOf(env)
	}
	for _, row := range o.table() {
		f := fs.Lookup(row.flag)
		if f == nil || f.Changed {
			continue
		}
		if v := env(row.env); v != "" {
			if err := row.value.Set(v); err != nil {
				return usagef("%s: %w", row.env, err)
			}
		}
		if row.flag == "no-color" && env("NO_COLOR") != "" {
			o.noColor = true
		}
	}
	return nil
}
