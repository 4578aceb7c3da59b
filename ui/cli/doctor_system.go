package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"nvpeak/sampler"
)

// The checks of the system around the driver.

func checkHidepid(c *checkup) finding {
	if c.file("/proc/stat") == "" {
		return unavailable("sudo mount -t proc proc /proc", "/proc is not there: no user, name or command of any process")
	}
	for line := range strings.Lines(c.file("/proc/mounts")) {
		f := strings.Fields(line)
		if len(f) < 4 || f[1] != "/proc" {
			continue
		}
		for _, o := range strings.Split(f[3], ",") {
			if v, is := strings.CutPrefix(o, "hidepid="); is && v != "0" && v != "off" {
				return partial("sudo mount -o remount,hidepid=0 /proc", "mounted with %s: processes of other users are hidden", o)
			}
		}
	}
	return ok("processes of all users are shown")
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
		kind = "a container"
	}
	if kind == "" {
		return ok("not in one")
	}
	// Kernel threads have no parent but 2; they are seen in the pid namespace of the machine only.
	if strings.HasPrefix(c.file("/proc/2/comm"), "kthreadd") {
		return ok("in %s, with the pids of the machine", kind)
	}
	return partial("docker run --pid=host …", "in %s with pids of its own: processes outside appear as memory without a name", kind)
}

func checkWSL(c *checkup) finding {
	if strings.Contains(strings.ToLower(c.file("/proc/version")), "microsoft") {
		return partial("", "the Windows driver reports neither process memory nor Xid errors, and may move GPU memory to RAM")
	}
	return ok("not under WSL")
}

func checkHostMemory(c *checkup) finding {
	m, known := c.host.Value()
	if !known {
		return unavailable("", "/proc/meminfo cannot be read")
	}
	return ok("%s available of %s, %s swapped", m.Available, m.Total, m.SwapUsed)
}

func checkEnvironment(c *checkup) finding {
	if c.file("/proc/self/environ") == "" && c.file("/proc/self/maps") == "" {
		return unavailable("", "/proc/PID/environ and maps cannot be read: advice cannot know the settings in force")
	}
	if os.Geteuid() == 0 {
		return ok("readable for every process: advice knows the settings in force")
	}
	others := false
	for _, list := range c.processes {
		others = others || slices.ContainsFunc(list, func(p sampler.Process) bool { return p.Visible && p.Environment == nil })
	}
	if others {
		return partial("sudo nvpeak", "of your own processes only; others are on the GPUs")
	}
	return ok("of your own processes")
}

func checkTerminal(c *checkup) finding {
	name, a := c.app.env("TERM"), c.app
	out, isFile := a.out.(*os.File)
	if !isFile || !term.IsTerminal(int(out.Fd())) {
		return partial("nvpeak doctor, without a pipe", "the output is not a terminal: the monitor prints a table (TERM=%s)", orNone(name))
	}
	if name == "" || name == "dumb" {
		return unavailable("export TERM=xterm-256color", "TERM=%s: the monitor cannot draw", orNone(name))
	}
	colors := "16 colors"
	switch {
	case a.env("COLORTERM") == "truecolor" || a.env("COLORTERM") == "24bit":
		colors = "16 million colors"
	case strings.Contains(name, "256color"):
		colors = "256 colors"
	}
	if a.env("NO_COLOR") != "" {
		colors = "colors off by NO_COLOR"
	}
	size := "size unknown"
	if w, h, err := term.GetSize(int(out.Fd())); err == nil {
		size = fmt.Sprintf("%dx%d", w, h)
	}
	text := fmt.Sprintf("%s, %s, %s, synchronized output not queried", name, size, colors)
	if !utf8Locale(a.env) {
		return partial("export LANG=C.UTF-8", "%s; the locale is not UTF-8, so line characters may fail (or use --ascii)", text)
	}
	return ok("%s, UTF-8", text)
}

// utf8Locale goes by the variables in the order of setlocale(3).
func utf8Locale(env func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(env(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}

// checkSettings looks at the environment of every command.
func checkSettings(c *checkup) finding {
	var set []string
	for _, o := range new(options).table() {
		v := c.app.env(o.env)
		if v == "" {
			continue
		}
		if err := o.value.Set(v); err != nil {
			return unavailable("unset "+o.env, "%s: %v", o.env, err)
		}
		set = append(set, o.env)
	}
	if len(set) > 0 {
		return ok("set by the environment: %s", strings.Join(set, ", "))
	}
	return ok("defaults; no NVPEAK_ variable is set")
}
