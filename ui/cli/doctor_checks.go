package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"nvpeak/sampler"
	"nvpeak/sampler/nvml"
)

// checks has one row for everything that doctor looks at. Rows about the GPUs say that
// they cannot tell when there is no connection.
var checks = []struct {
	name  string
	probe func(*checkup) finding
}{
	{"driver library", checkLibrary},
	{"driver", checkDriver},
	{"versions", checkVersions},
	{"GPUs", checkGPUs},
	{"permissions", checkPermissions},
	{"memory", connected(checkMemory)},
	{"memory lane", connected(checkLane)},
	{"driver speed", connected(checkSpeed)},
	{"processes", connected(checkProcesses)},
	{"SM per process", connected(checkSamples)},
	{"accounting", connected(checkAccounting)},
	{"persistence", connected(checkPersistence)},
	{"Xid errors", connected(checkXID)},
	{"MIG", connected(checkMIG)},
	{"NVML functions", connected(checkSymbols)},
	{"/proc", checkHidepid},
	{"container", checkContainer},
	{"WSL", checkWSL},
	{"host memory", checkHostMemory},
	{"environment", checkEnvironment},
	{"terminal", checkTerminal},
	{"settings", checkSettings},
}

// connected makes a check say that it cannot tell without the driver.
func connected(probe func(*checkup) finding) func(*checkup) finding {
	return func(c *checkup) finding {
		if c.openError != nil {
			return unavailable("", "cannot tell without the driver")
		}
		return probe(c)
	}
}

// openFixes is the one command to try first for each reason; the error itself says more.
var openFixes = map[error]string{
	sampler.ErrNoLibrary:       "sudo apt install nvidia-driver (in a container: docker run --gpus all …)",
	sampler.ErrDriverNotLoaded: "sudo modprobe nvidia",
	sampler.ErrMismatch:        "sudo reboot",
	sampler.ErrNoGPU:           "nvidia-smi -L (in a container: docker run --gpus all …)",
	sampler.ErrNoPermission:    "sudo usermod -aG video,render $USER",
	sampler.ErrLost:            "sudo reboot",
	sampler.ErrTransient:       "sudo dmesg | grep -i nvrm",
}

// failsWith judges one reason for which the driver cannot be opened; what comes before it
// must work to tell.
func (c *checkup) failsWith(reason error, before ...error) (f finding, failed bool) {
	if c.openError == nil {
		return finding{}, false
	}
	if errors.Is(c.openError, reason) {
		return unavailable(openFixes[reason], "%v", c.openError), true
	}
	for _, b := range before {
		if errors.Is(c.openError, b) {
			return unavailable("", "cannot tell: %v", b), true
		}
	}
	return finding{}, false
}

func checkLibrary(c *checkup) finding {
	if f, failed := c.failsWith(sampler.ErrNoLibrary); failed {
		return f
	}
	if c.diagnosis.Library == "" {
		return ok("loaded")
	}
	return ok("%s", c.diagnosis.Library)
}

func checkDriver(c *checkup) finding {
	if f, failed := c.failsWith(sampler.ErrDriverNotLoaded, sampler.ErrNoLibrary); failed {
		return f
	}
	for _, reason := range []error{sampler.ErrLost, sampler.ErrTransient} {
		if f, failed := c.failsWith(reason); failed {
			return f
		}
	}
	if c.openError != nil && !errors.Is(c.openError, sampler.ErrMismatch) && !errors.Is(c.openError, sampler.ErrNoGPU) && !errors.Is(c.openError, sampler.ErrNoPermission) {
		return unavailable("sudo dmesg | grep -i nvrm", "%v", c.openError) // it hangs
	}
	if c.inventory.Driver == "" {
		return ok("loaded")
	}
	return ok("%s, CUDA up to %s", c.inventory.Driver, orNone(c.inventory.CUDA))
}

func orNone(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func checkVersions(c *checkup) finding {
	if f, failed := c.failsWith(sampler.ErrMismatch, sampler.ErrNoLibrary, sampler.ErrDriverNotLoaded); failed {
		return f
	}
	return ok("library and kernel module fit")
}

func checkGPUs(c *checkup) finding {
	if f, failed := c.failsWith(sampler.ErrNoGPU, sampler.ErrNoLibrary, sampler.ErrDriverNotLoaded, sampler.ErrMismatch, sampler.ErrNoPermission); failed {
		return f
	}
	if c.openError != nil {
		return unavailable("", "cannot tell: %v", c.openError)
	}
	var broken []string
	for i, d := range c.diagnosis.Devices {
		if d.Broken != nil {
			broken = append(broken, fmt.Sprintf("GPU %d: %v", c.inventory.Devices[i].Index, d.Broken))
		}
	}
	n := len(c.inventory.Devices)
	if len(broken) > 0 {
		return partial("sudo dmesg | grep -i nvrm", "%d of %d give no figures: %s", len(broken), n, strings.Join(broken, "; "))
	}
	names := map[string]int{}
	var order []string
	for _, d := range c.inventory.Devices {
		if names[d.Name]++; names[d.Name] == 1 {
			order = append(order, d.Name)
		}
	}
	for i, name := range order {
		order[i] = fmt.Sprintf("%d x %s", names[name], name)
	}
	return ok("%s", strings.Join(order, ", "))
}

func checkPermissions(c *checkup) finding {
	if f, failed := c.failsWith(sampler.ErrNoPermission, sampler.ErrNoLibrary, sampler.ErrDriverNotLoaded); failed {
		return f
	}
	for i, err := range c.memError {
		if errors.Is(err, sampler.ErrNoPermission) {
			return partial("sudo nvpeak", "GPU %d may not be read by this user", c.inventory.Devices[i].Index)
		}
	}
	return ok("this user may ask the driver")
}

func checkMemory(c *checkup) finding {
	old, shared, bad := 0, 0, ""
	for i, d := range c.diagnosis.Devices {
		switch {
		case c.memError[i] != nil:
			bad = fmt.Sprintf("GPU %d: %v", c.inventory.Devices[i].Index, c.memError[i])
		case d.HostMemory:
			shared++
		case d.MemoryVersion == 1:
			old++
		}
	}
	switch {
	case c.measurable() == 0:
		return unavailable("sudo dmesg | grep -i nvrm", "%s", bad)
	case bad != "":
		return partial("sudo dmesg | grep -i nvrm", "%s", bad)
	case old > 0:
		return partial("update the driver to 510 or newer", "%d GPU(s) answer the older call only: used memory includes what the driver reserves", old)
	case shared > 0:
		return partial("", "%d GPU(s) use the machine's memory, which is read instead", shared)
	}
	return ok("nvmlDeviceGetMemoryInfo_v2 of every GPU: used, reserved and free apart")
}

func checkLane(c *checkup) finding {
	if len(c.lane) == 0 {
		if c.laneError != nil {
			return unavailable("", "%v", c.laneError)
		}
		return unavailable("", "no reading came within %v", laneFor)
	}
	slow := slices.MinFunc(c.lane, func(a, b laneRate) int { return int(1000 * (a.Rate - b.Rate)) })
	missed := 0
	for _, r := range c.lane {
		missed += r.Missed
	}
	asked := c.app.opt.peakInterval.Seconds()
	text := fmt.Sprintf("%.1f readings a second of each GPU, %d given up as late; an excursion of %s is seen; %.2f %% of a core",
		slow.Rate, missed, shortTime(slow.Resolution), slow.Duty)
	if slow.Rate < 0.9/asked {
		return partial("nvpeak --peak-interval "+(time.Duration(slow.Resolution*float64(time.Second))).Round(time.Millisecond).String(),
			"%s (%.0f a second were asked for)", text, 1/asked)
	}
	return ok("%s", text)
}

// slowCall is where a memory call takes more than the 2 % of a core that nvpeak allows itself.
const slowCall = 400e-6

func checkSpeed(c *checkup) finding {
	worst := callTime{}
	for _, t := range c.calls {
		if t.Call == "memory" && t.P99 > worst.P99 {
			worst = t
		}
	}
	if worst.Count == 0 {
		return unavailable("", "no call could be timed")
	}
	text := fmt.Sprintf("a reading of memory takes %s (median), %s (p99) on GPU %s", shortTime(worst.Median), shortTime(worst.P99), worst.GPU)
	if worst.Median > slowCall {
		return partial("nvpeak --peak-interval 100ms", "%s: the rate will be halved to stay cheap", text)
	}
	return ok("%s", text)
}

func checkProcesses(c *checkup) finding {
	all, blind, hidden := 0, 0, 0
	for i, list := range c.processes {
		if err := c.procError[i]; err != nil {
			return partial("", "GPU %d: %v", c.inventory.Devices[i].Index, err)
		}
		for _, p := range list {
			all++
			if !p.Memory.Known() {
				blind++
			}
			if !p.Visible {
				hidden++
			}
		}
	}
	switch {
	case blind > 0:
		return partial("", "the driver does not say how much memory %d of %d processes hold (so under WSL, Windows and MPS)", blind, all)
	case hidden > 0:
		return partial("docker run --pid=host …", "%d of %d processes are of another pid namespace: no user, name or command", hidden, all)
	}
	return ok("%d listed, with their memory", all)
}

func checkSamples(c *checkup) finding {
	switch {
	case !c.diagnosis.Samples:
		return unavailable("update the driver", "the library lacks nvmlDeviceGetProcessUtilization")
	case slices.ContainsFunc(c.inventory.Devices, func(d sampler.Device) bool { return d.MIG != nil }):
		return partial("", "not on MIG instances")
	}
	return ok("the driver counts it")
}

// mode judges an on/off mode over all GPUs.
func (c *checkup) mode(of func(nvml.DeviceDiagnosis) sampler.Opt[bool], fix, on, off string) finding {
	known, enabled := 0, 0
	for _, d := range c.diagnosis.Devices {
		if v, is := of(d).Value(); is {
			known++
			if v {
				enabled++
			}
		}
	}
	switch {
	case known == 0:
		return unavailable("", "not supported by these GPUs")
	case enabled == known:
		return ok("%s", on)
	}
	return partial(fix, "off on %d of %d: %s", known-enabled, known, off)
}

func checkAccounting(c *checkup) finding {
	return c.mode(func(d nvml.DeviceDiagnosis) sampler.Opt[bool] { return d.Accounting }, "sudo nvidia-smi -am 1",
		"the driver keeps the exact peak of each process", "peaks of processes are sampled, not exact")
}

func checkPersistence(c *checkup) finding {
	return c.mode(func(d nvml.DeviceDiagnosis) sampler.Opt[bool] { return d.Persistence }, "sudo nvidia-smi -pm 1",
		"the GPUs stay initialised", "the first call after idling takes seconds, and accounting forgets")
}

func checkXID(c *checkup) finding {
	switch {
	case c.xidError == nil || errors.Is(c.xidError, sampler.ErrTransient):
		return ok("the driver reports them")
	case errors.Is(c.xidError, sampler.ErrNotSupported):
		return unavailable("", "the driver does not report them")
	}
	return partial("", "%v", c.xidError)
}

func checkMIG(c *checkup) finding {
	n := 0
	for _, d := range c.inventory.Devices {
		if d.MIG != nil {
			n++
		}
	}
	if n > 0 {
		return partial("", "%d instance(s): memory and processes of each, but no utilization, power or temperature of its own", n)
	}
	return ok("off")
}

// shownMissing is how many missing functions are named.
const shownMissing = 4

func checkSymbols(c *checkup) finding {
	list := c.diagnosis.Missing
	if len(list) == 0 {
		return ok("all there")
	}
	text := strings.Join(list[:min(len(list), shownMissing)], ", ")
	if more := len(list) - shownMissing; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return partial("update the driver", "this library lacks %s: what they tell is N/A", text)
}

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
	return partial("docker run --pid=host …", "in %s with pids of its own: processes outside are memory without a name", kind)
}

func checkWSL(c *checkup) finding {
	if strings.Contains(strings.ToLower(c.file("/proc/version")), "microsoft") {
		return partial("", "the driver of Windows tells neither the memory of processes nor Xid errors, and may move GPU memory to RAM")
	}
	return ok("not under it")
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
		return unavailable("", "/proc/PID/environ and maps cannot be read: advice does not know what is in force")
	}
	if os.Geteuid() == 0 {
		return ok("of every process: advice knows what is in force")
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
	if !isFile || !isTTY(int(out.Fd())) {
		return partial("nvpeak doctor, without a pipe", "the output is no terminal: the monitor prints a table (TERM=%s)", orNone(name))
	}
	if name == "" || name == "dumb" {
		return unavailable("export TERM=xterm-256color", "TERM=%s: the monitor cannot draw", orNone(name))
	}
	colours := "16 colours"
	switch {
	case a.env("COLORTERM") == "truecolor" || a.env("COLORTERM") == "24bit":
		colours = "16 million colours"
	case strings.Contains(name, "256color"):
		colours = "256 colours"
	}
	if a.env("NO_COLOR") != "" {
		colours = "colours off by NO_COLOR"
	}
	size := "size unknown"
	if w, h, err := term.GetSize(int(out.Fd())); err == nil {
		size = fmt.Sprintf("%dx%d", w, h)
	}
	text := fmt.Sprintf("%s, %s, %s, synchronised output not asked", name, size, colours)
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

func checkSettings(c *checkup) finding {
	if err := c.app.opt.badEnv; err != nil {
		return unavailable("unset the variable", "%v", err)
	}
	var set []string
	for _, o := range c.app.opt.table() {
		if c.app.env(o.env) != "" {
			set = append(set, o.env)
		}
	}
	if len(set) > 0 {
		return ok("set by the environment: %s", strings.Join(set, ", "))
	}
	return ok("defaults; no NVPEAK_ variable is set")
}

// quantile of a list of durations; 0 for none.
func quantile(list []time.Duration, q float64) time.Duration {
	if len(list) == 0 {
		return 0
	}
	list = slices.Sorted(slices.Values(list))
	return list[min(len(list)-1, int(q*float64(len(list))))]
}
