package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

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

// quantile of a list of durations; 0 for none.
func quantile(list []time.Duration, q float64) time.Duration {
	if len(list) == 0 {
		return 0
	}
	list = slices.Sorted(slices.Values(list))
	return list[min(len(list)-1, int(q*float64(len(list))))]
}
