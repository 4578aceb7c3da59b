package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"nvpeak/sampler"
	"nvpeak/ui"
)

// The checks of the system around the driver.

func checkHidepid(c *checkup) finding {
	if c.file("/proc/stat") == "" {
		return unavailable("sudo mount -t proc proc /proc", c.say("doctor.no_proc"))
	}
	for line := range strings.Lines(c.file("/proc/mounts")) {
		f := strings.Fields(line)
		if len(f) < 4 || f[1] != "/proc" {
			continue
		}
		for _, o := range strings.Split(f[3], ",") {
			if v, is := strings.CutPrefix(o, "hidepid="); is && v != "0" && v != "off" {
				return partial("sudo mount -o remount,hidepid=0 /proc", c.say("doctor.hidepid", "option", o))
			}
		}
	}
	return ok(c.say("doctor.proc"))
}

func checkContainer(c *checkup) finding {
	kind := ""
	switch {
	case c.exists("/.dockerenv"):
		kind = "Docker"
	case c.exists("/run/.containerenv"):
		kind = "Podman"
	case strings.Contains(c.file("/proc/1/cgroup"), "kubepods"):
		kind = "Kubernetes"
	case strings.Contains(c.file("/proc/1/environ"), "container="):
		kind = c.say("doctor.a_container")
	}
	if kind == "" {
		return ok(c.say("doctor.no_container"))
	}
	// Kernel threads have no parent but 2; they are seen in the pid namespace of the machine only.
	if strings.HasPrefix(c.file("/proc/2/comm"), "kthreadd") {
		return ok(c.say("doctor.container_pids", "kind", kind))
	}
	return partial("docker run --pid=host …", c.say("doctor.own_pids", "kind", kind))
}

func checkWSL(c *checkup) finding {
	if strings.Contains(strings.ToLower(c.file("/proc/version")), "microsoft") {
		return partial("", c.say("doctor.wsl"))
	}
	return ok(c.say("doctor.no_wsl"))
}

func checkHostMemory(c *checkup) finding {
	m, known := c.host.Value()
	if !known {
		return unavailable("", c.say("doctor.no_meminfo"))
	}
	return ok(c.say("doctor.meminfo", "free", m.Available.Few(), "total", m.Total, "swap", m.SwapUsed))
}

func checkEnvironment(c *checkup) finding {
	if c.file("/proc/self/environ") == "" && c.file("/proc/self/maps") == "" {
		return unavailable("", c.say("doctor.no_environ"))
	}
	if os.Geteuid() == 0 {
		return ok(c.say("doctor.environ_all"))
	}
	others := false
	for _, list := range c.processes {
		others = others || slices.ContainsFunc(list, func(p sampler.Process) bool { return p.Visible && p.Environment == nil })
	}
	if others {
		return partial("sudo nvpeak", c.say("doctor.environ_others"))
	}
	return ok(c.say("doctor.environ_own"))
}

func checkTerminal(c *checkup) finding {
	name, a := c.app.env("TERM"), c.app
	out, isFile := a.out.(*os.File)
	if !isFile || !term.IsTerminal(int(out.Fd())) {
		return partial(c.say("doctor.no_pipe"), c.say("doctor.no_terminal", "term", c.orUnknown(name)))
	}
	if name == "" || name == "dumb" {
		return unavailable("export TERM=xterm-256color", c.say("doctor.dumb", "term", c.orUnknown(name)))
	}
	var colors string
	switch n := ui.Colors(out, bool(a.opt.noColor)); n {
	case 0:
		colors = c.say("doctor.no_color")
	case 1 << 24:
		colors = c.say("doctor.true_color")
	default:
		colors = c.say("doctor.colors", "colors", n)
	}
	size := c.say("doctor.no_size")
	if w, h, err := term.GetSize(int(out.Fd())); err == nil {
		size = fmt.Sprintf("%dx%d", w, h)
	}
	text := c.say("doctor.terminal", "name", name, "size", size, "colors", colors)
	if !utf8Locale(a.env) {
		return partial("export LANG=C.UTF-8", c.say("doctor.not_utf8", "text", text))
	}
	return ok(c.say("doctor.utf8", "text", text))
}

// checkSettings looks at the environment of every command.
func checkSettings(c *checkup) finding {
	var set []string
	all := new(options)
	for _, o := range all.table() {
		v := c.app.env(o.env)
		if v == "" {
			continue
		}
		if err := o.value.Set(v); err != nil {
			return unavailable("unset "+o.env, fmt.Sprintf("%s: %v", o.env, err))
		}
		set = append(set, o.env)
	}
	theme := &settings{file: c.app.set.file, origins: map[string]origin{"theme": {how: fromEnv, name: "NVPEAK_THEME"}}}
	if err := all.readTheme(theme); err != nil {
		return unavailable("unset NVPEAK_THEME", err.Error())
	}
	if len(set) > 0 {
		return ok(c.say("doctor.set", "list", c.list(set)))
	}
	return ok(c.say("doctor.defaults"))
}
