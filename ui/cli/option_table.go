package cli

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"nvpeak/advice/lang"
	"nvpeak/sampler/demo"
	"nvpeak/theme"
	"nvpeak/ui"
)

// option is one row: flag, environment variable, help. A new option is one row, and its name
// where a command binds it.
type option struct {
	group, flag, short, env, help string
	value                         pflag.Value
	optional                      string // value of the flag without one; empty: it needs one
}

// The groups of options, as help shows them.
const (
	aboutGPUs   = "GPUs and how they are measured"
	aboutMemory = "What is watched for"
	aboutAlerts = "Alerts that go elsewhere"
	aboutLooks  = "Looks and language"
)

func (o *options) table() []option {
	return []option{
		{aboutGPUs, "gpu", "i", "NVPEAK_GPU", "only these GPUs: `LIST` of indices, UUIDs or PCI bus ids, separated by commas", (*listFlag)(&o.gpus), ""},
		{aboutMemory, "need", "", "NVPEAK_NEED", "what the next allocation needs, a `SIZE` such as 15.8GiB", &o.need, ""},
		{aboutGPUs, "interval", "", "NVPEAK_INTERVAL", "time between snapshots, or between the readings of a log that tells no times, a `DURATION` from 100ms to 1h", durationFlag{&o.interval, 100 * time.Millisecond, time.Hour}, ""},
		{aboutGPUs, "peak-interval", "", "NVPEAK_PEAK_INTERVAL", "time between memory readings, a `DURATION` from 1ms to 10s", durationFlag{&o.peakInterval, time.Millisecond, 10 * time.Second}, ""},
		{aboutGPUs, "demo", "", "NVPEAK_DEMO", "scripted GPUs: a `SCENARIO` of " + strings.Join(scenarioNames(), ", ") + "; list names them", &o.demo, demo.Default},
		{aboutGPUs, "from", "", "NVPEAK_FROM", "other machines: a `SOURCE` such as ssh://box7,box8, prometheus://server, http://box7:9835/metrics or a hosts.toml; may be given again", &o.from, ""},
		{aboutMemory, "log", "", "NVPEAK_LOG", "the `LOG` of the training: its out-of-memory errors are shown with their advice", (*textFlag)(&o.log), ""},
		{aboutMemory, "record", "", "NVPEAK_RECORD", "record to a new `FILE` at the same time: .jsonl, or compressed .jsonl.zst", (*textFlag)(&o.record), ""},
		{aboutAlerts, "notify", "", "NVPEAK_NOTIFY", "announce new critical alerts by `HOW`: bell, desktop, or both with a comma", &o.notify, ""},
		{aboutAlerts, "on-alert", "", "NVPEAK_ON_ALERT", "run a shell `COMMAND` on each new critical alert, its JSON on standard input", (*textFlag)(&o.onAlert), ""},
		{aboutAlerts, "webhook", "", "NVPEAK_WEBHOOK", "post the JSON of each new critical alert to a `URL`", &o.webhook, ""},
		{aboutAlerts, "webhook-private", "", "NVPEAK_WEBHOOK_PRIVATE", "allow a webhook on loopback and private addresses", (*boolFlag)(&o.webhookLocal), "true"},
		{aboutGPUs, "nvml-lib", "", "NVPEAK_NVML", "the driver library, a `PATH` or a name for dlopen", (*textFlag)(&o.library), ""},
		{aboutGPUs, "requests", "", "NVPEAK_REQUESTS", "see what processes ask the driver for: `WHEN` is auto (where it is allowed), on or off", &o.requests, ""},
		{aboutLooks, "theme", "", "NVPEAK_THEME", "colors: `NAME` is one of " + strings.Join(theme.Names(), ", ") + ", or a theme of your own", &o.theme, ""},
		{aboutLooks, "lang", "", "NVPEAK_LANG", "language of what is said to people: `LANG` is " + strings.Join(lang.Names(), " or ") + " (otherwise that of the locale, or en)", &o.lang, ""},
		{aboutLooks, "ascii", "", "NVPEAK_ASCII", "draw with ASCII characters only", (*boolFlag)(&o.ascii), "true"},
		{aboutLooks, "no-color", "", "NVPEAK_NO_COLOR", "no colors (as any non-empty NO_COLOR)", (*boolFlag)(&o.noColor), "true"},
		{aboutLooks, "plot", "", "NVPEAK_PLOT", "how plots are drawn: `FORM` is area or line", &o.plot, ""},
		{aboutLooks, "columns", "", "NVPEAK_COLUMNS", "the columns of the process table in order, a `LIST` of " + strings.Join(ui.ColumnNames(), ", "), &o.columns, ""},
		{aboutLooks, "sort", "", "NVPEAK_SORT", "the `COLUMN` that the process table is sorted by, -COLUMN the other way round", &o.sort, ""},
		{aboutLooks, "span", "", "NVPEAK_SPAN", "the `TIME` that plots show: " + strings.Join(ui.SpanNames(), ", "), &o.span, ""},
		{aboutLooks, "gpu-levels", "", "NVPEAK_GPU_LEVELS", "the three `LEVELS` of GPU memory, in percent, from which on it has the next color; set, there are alerts too", &o.gpuLevels, ""},
		{aboutLooks, "host-levels", "", "NVPEAK_HOST_LEVELS", "the three `LEVELS` of host memory", &o.hostLevels, ""},
		{aboutLooks, "config", "", "NVPEAK_CONFIG", "the settings `FILE` instead of nvpeak/config.toml in $XDG_CONFIG_HOME", (*textFlag)(&o.config), ""},
		{aboutLooks, "no-mouse", "", "NVPEAK_NO_MOUSE", "leave the mouse to the terminal", (*boolFlag)(&o.noMouse), "true"},
		{aboutLooks, "readonly", "", "NVPEAK_READONLY", "no way to signal a process", (*boolFlag)(&o.readonly), "true"},
	}
}

// measuring are the options of every command that reads GPUs.
var measuring = []string{aboutGPUs, "gpu", "peak-interval", "demo", "nvml-lib"}

// following are the options of every command that can do the same for other machines.
var following = append([]string{"from"}, measuring...)

// bind declares the options of those names as flags of a command. What a command does not
// bind it refuses, and it does not read its environment variable.
func (o *options) bind(fs *pflag.FlagSet, names ...string) {
	o.interval, o.peakInterval = time.Second, 20*time.Millisecond
	o.gpuLevels, o.hostLevels = ui.Levels()
	names = append(names[:len(names):len(names)], "config")
	for _, row := range o.table() {
		if slices.Contains(names, row.flag) {
			if row.flag == "requests" {
				o.requests = requestsAuto
			}
			fs.VarPF(row.value, row.flag, row.short, row.help).NoOptDefVal = row.optional
		}
	}
}
