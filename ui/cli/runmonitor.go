package cli

import (
	"os"
	"os/exec"
	"strings"
)

// openMonitor opens the monitor beside the command where there is a tmux, and returns what closes it. Where there
// is none, one line says so.
func (a *app) openMonitor() (end func()) {
	nothing := func() {}
	if a.env("TMUX") == "" {
		a.say("--monitor needs tmux; open another terminal and type nvpeak")
		return nothing
	}
	self, err := os.Executable()
	if err != nil {
		a.say("--monitor: " + err.Error())
		return nothing
	}
	split := []string{"split-window", "-d", "-P", "-F", "#{pane_id}"}
	if pane := a.env("TMUX_PANE"); pane != "" {
		split = append(split, "-t", pane)
	}
	out, err := exec.Command("tmux", append(append(split, self), a.monitorFlags()...)...).Output()
	if err != nil {
		a.say("--monitor: tmux opens no split: " + err.Error())
		return nothing
	}
	pane := strings.TrimSpace(string(out))
	return func() { exec.Command("tmux", "kill-pane", "-t", pane).Run() } //nolint:errcheck // it was closed by hand
}

// monitorFlags are those of the monitor that shows what run watches.
func (a *app) monitorFlags() []string {
	flags := []string{"--readonly", "--interval", a.opt.interval.String(), "--peak-interval", a.opt.peakInterval.String(), "--lang", string(a.opt.lang)}
	for name, value := range map[string]string{"gpu": strings.Join(a.opt.gpus, ","), "need": a.opt.need.String(), "demo": string(a.opt.demo), "nvml-lib": a.opt.library} {
		if value != "" {
			flags = append(flags, "--"+name+"="+value)
		}
	}
	return flags
}
