package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/nvml"
	"nvpeak/ui/plain"
)

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

func checkSampling(c *checkup) finding {
	if len(c.sampling) == 0 {
		if c.rateError != nil {
			return unavailable("", "%v", c.rateError)
		}
		return unavailable("", "no reading within %v", samplingFor)
	}
	slow := slices.MinFunc(c.sampling, func(a, b samplingRate) int { return int(1000 * (a.Rate - b.Rate)) })
	missed := 0
	for _, r := range c.sampling {
		missed += r.Missed
	}
	asked := c.app.opt.peakInterval.Seconds()
	text := fmt.Sprintf("%.1f readings per second of each GPU, %d missed; spikes longer than %s are detected; %.2f %% of a core",
		slow.Rate, missed, plain.Latency(slow.Resolution), slow.Duty)
	if slow.Rate < 0.9/asked {
		return partial("nvpeak --peak-interval "+(time.Duration(slow.Resolution*float64(time.Second))).Round(time.Millisecond).String(),
			"%s (%.0f per second asked for)", text, 1/asked)
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
	text := fmt.Sprintf("a reading of memory takes %s (median), %s (p99) on GPU %s", plain.Latency(worst.Median), plain.Latency(worst.P99), worst.GPU)
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
		return partial("", "the driver does not report the memory of %d of %d processes (as under WSL, Windows and MPS)", blind, all)
	case hidden > 0:
		return partial("docker run --pid=host …", "%d of %d processes are in another pid namespace: no user, name or command", hidden, all)
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
	return ok("the driver measures it")
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
		"the GPUs stay initialized", "the first call after idling takes seconds, and accounting data is lost")
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
		return ok("all present")
	}
	text := strings.Join(list[:min(len(list), shownMissing)], ", ")
	if more := len(list) - shownMissing; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return partial("update the driver", "this library lacks %s: what they report is N/A", text)
}
