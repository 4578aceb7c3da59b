package cli

import (
	"strings"
	"time"

	"github.com/spf13/pflag"

	"nvpeak/sampler/demo"
	"nvpeak/theme"
)

// options are the common flags. Precedence: flag, environment, default.
type options struct {
	gpus         []string
	need         size
	interval     time.Duration
	peakInterval time.Duration
	demo         demoFlag
	log          string
	record       string
	notify       notifyFlag
	onAlert      string
	webhook      string
	webhookLocal bool
	library      string
	theme        themeFlag
	ascii        bool
	noColor      bool

	badEnv error // the first bad environment variable; told when a command begins
}

// option is one row: flag, environment variable, help. A new option is one row.
type option struct {
	flag, short, env, help string
	value                  pflag.Value
	optional               string // value of the flag without one; empty: it needs one
}

func (o *options) table() []option {
	return []option{
		{"gpu", "i", "NVPEAK_GPU", "watch only these GPUs: `LIST` of indices, UUIDs or PCI bus ids, separated by commas", (*listFlag)(&o.gpus), ""},
		{"need", "", "NVPEAK_NEED", "what the next allocation needs, a `SIZE` such as 15.8GiB: warn when it does not fit", &o.need, ""},
		{"interval", "", "NVPEAK_INTERVAL", "time between refreshes, a `DURATION` from 100ms to 1h", durationFlag{&o.interval, 100 * time.Millisecond, time.Hour}, ""},
		{"peak-interval", "", "NVPEAK_PEAK_INTERVAL", "time between memory readings, a `DURATION` from 1ms to 10s", durationFlag{&o.peakInterval, time.Millisecond, 10 * time.Second}, ""},
		{"demo", "", "NVPEAK_DEMO", "show scripted GPUs: a `SCENARIO` of " + strings.Join(scenarioNames(), ", ") + "; list names them", &o.demo, demo.Default},
		{"log", "", "NVPEAK_LOG", "follow a training `LOG`: its out-of-memory errors show in the advice panel", (*textFlag)(&o.log), ""},
		{"record", "", "NVPEAK_RECORD", "record to a new `FILE` while watching: .jsonl, or compressed .jsonl.zst", (*textFlag)(&o.record), ""},
		{"notify", "", "NVPEAK_NOTIFY", "announce new critical alerts by `HOW`: bell, desktop, or both with a comma", &o.notify, ""},
		{"on-alert", "", "NVPEAK_ON_ALERT", "run a shell `COMMAND` on each new critical alert, its JSON on standard input", (*textFlag)(&o.onAlert), ""},
		{"webhook", "", "NVPEAK_WEBHOOK", "post the JSON of each new critical alert to a `URL`", (*textFlag)(&o.webhook), ""},
		{"webhook-private", "", "NVPEAK_WEBHOOK_PRIVATE", "allow a webhook on loopback and private addresses", (*boolFlag)(&o.webhookLocal), "true"},
		{"nvml-lib", "", "NVPEAK_NVML", "the driver library, a `PATH` or a name for dlopen", (*textFlag)(&o.library), ""},
		{"theme", "", "NVPEAK_THEME", "colours: `NAME` is one of " + strings.Join(theme.Names(), ", "), &o.theme, ""},
		{"ascii", "", "NVPEAK_ASCII", "draw with ASCII characters only", (*boolFlag)(&o.ascii), "true"},
		{"no-color", "", "NVPEAK_NO_COLOR", "no colours (as any non-empty NO_COLOR)", (*boolFlag)(&o.noColor), "true"},
		{"readonly", "", "NVPEAK_READONLY", "no way to signal a process", new(boolFlag), "true"},
	}
}

// bind declares the flags; an environment variable sets what the flag does not.
func (o *options) bind(fs *pflag.FlagSet, env func(string) string) {
	o.interval, o.peakInterval = time.Second, 20*time.Millisecond
	for _, row := range o.table() {
		f := fs.VarPF(row.value, row.flag, row.short, row.help)
		f.NoOptDefVal = row.optional
		if v := env(row.env); v != "" {
			if err := row.value.Set(v); err != nil && o.badEnv == nil {
				o.badEnv = usagef("%s: %w", row.env, err)
			}
		}
	}
	if env("NO_COLOR") != "" {
		o.noColor = true
	}
}
