package cli

import (
	"errors"
	"fmt"
	"slices"
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
			bad = fmt.Sprintf("GPU %d: %s", c.inventory.Devices[i].Index, c.reason(c.memError[i]))
		case d.HostMemory:
			shared++
		case d.MemoryVersion == 1:
			old++
		}
	}
	switch {
	case c.measurable() == 0:
		return unavailable("sudo dmesg | grep -i nvrm", bad)
	case bad != "":
		return partial("sudo dmesg | grep -i nvrm", bad)
	case old > 0:
		return partial(c.say("doctor.update_510"), c.say("doctor.old_call", "gpus", c.app.words().Count("count.gpu", old)))
	case shared > 0:
		return partial("", c.say("doctor.host_memory", "gpus", c.app.words().Count("count.gpu", shared)))
	}
	return ok(c.say("doctor.memory"))
}

func checkSampling(c *checkup) finding {
	if len(c.sampling) == 0 {
		if c.rateError != nil {
			return unavailable("", c.reason(c.rateError))
		}
		return unavailable("", c.say("doctor.no_reading", "span", samplingFor))
	}
	slow := slices.MinFunc(c.sampling, func(a, b samplingRate) int { return int(1000 * (a.Rate - b.Rate)) })
	missed := 0
	for _, r := range c.sampling {
		missed += r.Missed
	}
	asked := c.app.opt.peakInterval.Seconds()
	text := c.say("doctor.sampling", "rate", fmt.Sprintf("%.1f", slow.Rate), "missed", missed, "span", plain.Latency(slow.Resolution), "duty", fmt.Sprintf("%.2f", slow.Duty))
	if slow.Rate < 0.9/asked/sampler.StillPeriods || slow.Period > 1.1*asked {
		return partial("nvpeak --peak-interval "+(time.Duration(slow.Resolution*float64(time.Second))).Round(time.Millisecond).String(),
			c.say("doctor.asked", "text", text, "rate", fmt.Sprintf("%.0f", 1/asked)))
	}
	return ok(text)
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
		return unavailable("", c.say("doctor.no_call"))
	}
	text := c.say("doctor.speed", "median", plain.Latency(worst.Median), "p99", plain.Latency(worst.P99), "gpu", worst.GPU)
	if worst.Median > slowCall {
		return partial("nvpeak --peak-interval 100ms", c.say("doctor.halved", "text", text))
	}
	return ok(text)
}

func checkProcesses(c *checkup) finding {
	all, blind, hidden := 0, 0, 0
	for i, list := range c.processes {
		if err := c.procError[i]; err != nil {
			return partial("", fmt.Sprintf("GPU %d: %v", c.inventory.Devices[i].Index, err))
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
		return partial("", c.say("doctor.blind", "count", blind, "all", all))
	case hidden > 0:
		return partial("docker run --pid=host …", c.say("doctor.hidden", "count", hidden, "all", all))
	}
	return ok(c.say("doctor.listed", "count", all))
}

// checkMetrics judges the calls that are made once a second for all but memory and processes.
func checkMetrics(c *checkup) finding {
	var bad []string
	asked := 0
	for _, t := range c.calls {
		switch {
		case t.Call != callMetrics && t.Call != callTraffic, errors.Is(t.failure, sampler.ErrNotSupported): // as a MIG instance's
		case t.failure != nil:
			bad = append(bad, fmt.Sprintf("GPU %s: %s", t.GPU, c.reason(t.failure)))
		default:
			asked++
		}
	}
	switch {
	case len(bad) > 0:
		return partial("sudo dmesg | grep -i nvrm", c.list(slices.Compact(bad)))
	case asked == 0:
		return unavailable("", c.say("doctor.no_call"))
	}
	return ok(c.say("doctor.metrics"))
}

func checkSamples(c *checkup) finding {
	switch {
	case !c.diagnosis.Samples:
		return unavailable(c.say("doctor.update"), c.say("doctor.no_samples"))
	case slices.ContainsFunc(c.inventory.Devices, func(d sampler.Device) bool { return d.MIG != nil }):
		return partial("", c.say("doctor.not_mig"))
	}
	return ok(c.say("doctor.counts"))
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
		return unavailable("", c.say("doctor.not_supported"))
	case enabled == known:
		return ok(on)
	}
	return partial(fix, c.say("doctor.off", "count", known-enabled, "all", known, "why", off))
}

func checkAccounting(c *checkup) finding {
	return c.mode(func(d nvml.DeviceDiagnosis) sampler.Opt[bool] { return d.Accounting }, "sudo nvidia-smi -am 1",
		c.say("doctor.accounting_on"), c.say("doctor.accounting_off"))
}

func checkPersistence(c *checkup) finding {
	return c.mode(func(d nvml.DeviceDiagnosis) sampler.Opt[bool] { return d.Persistence }, "sudo nvidia-smi -pm 1",
		c.say("doctor.persistence_on"), c.say("doctor.persistence_off"))
}

func checkXID(c *checkup) finding {
	switch {
	case c.xidError == nil || errors.Is(c.xidError, sampler.ErrTransient):
		return ok(c.say("doctor.xid"))
	case errors.Is(c.xidError, sampler.ErrNotSupported):
		return unavailable("", c.say("doctor.no_xid"))
	}
	return partial("", c.reason(c.xidError))
}

func checkMIG(c *checkup) finding {
	n := 0
	for _, d := range c.inventory.Devices {
		if d.MIG != nil {
			n++
		}
	}
	if n > 0 {
		return partial("", c.say("doctor.mig", "count", n))
	}
	return ok(c.say("doctor.mig_off"))
}

// shownMissing is how many missing functions are named.
const shownMissing = 4

func checkSymbols(c *checkup) finding {
	list := c.diagnosis.Missing
	if len(list) == 0 {
		return ok(c.say("doctor.all_there"))
	}
	text := c.list(list[:min(len(list), shownMissing)])
	if more := len(list) - shownMissing; more > 0 {
		text = c.say("doctor.and_more", "list", text, "count", more)
	}
	return partial(c.say("doctor.update"), c.say("doctor.lacks", "list", text))
}
