package cli

import "time"

// options are those that commands share. Each command takes some of them.
type options struct {
	gpus         []string
	from         sourcesFlag
	need         size
	interval     time.Duration
	peakInterval time.Duration
	demo         demoFlag
	log          string
	record       string
	notify       notifyFlag
	onAlert      string
	webhook      webhookFlag
	webhookLocal bool
	library      string
	theme        themeFlag
	lang         langFlag
	ascii        bool
	noColor      bool
	plot         plotFlag
	readonly     bool
	noMouse      bool
	requests     requestsFlag
	config       string
	gpuLevels    levelsFlag
	hostLevels   levelsFlag
	columns      columnsFlag
	sort         sortFlag
	span         spanFlag
}
