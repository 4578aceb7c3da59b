package proc

import (
	"bytes"
	"os"
	"strings"

	"nvpeak/sampler"
)

// Kills counts what the kernel has killed for host memory.
type Kills struct {
	group   uint64 // in our control group
	machine uint64
}

// OOMKills counts now. What cannot be read counts as none.
func OOMKills() Kills {
	vmstat, _ := os.ReadFile("/proc/vmstat")
	k := Kills{machine: counter(vmstat, "oom_kill ")}
	ours, _ := os.ReadFile("/proc/self/cgroup")
	for line := range bytes.Lines(ours) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "0::"); ok {
			events, _ := os.ReadFile("/sys/fs/cgroup" + strings.TrimSuffix(path, "/") + "/memory.events")
			k.group = counter(events, "oom_kill ")
		}
	}
	return k
}

func counter(text []byte, name string) uint64 {
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte(name)); ok {
			n, _ := number(bytes.TrimSpace(rest))
			return n
		}
	}
	return 0
}

// Since is the failure of a process that was killed since an earlier count, if the kernel has killed one.
func (k Kills) Since(before Kills) (e sampler.OOMEvent, killed bool) {
	e = sampler.OOMEvent{MemoryKind: sampler.MemoryHost, Occurrences: 1, Text: "Killed"}
	switch {
	case k.group > before.group:
		e.Kind = sampler.KindCgroupKill
	case k.machine > before.machine:
		e.Kind = sampler.KindKernelKill
	default:
		return sampler.OOMEvent{}, false
	}
	return e, true
}

// Environment picks the variables that concern memory and the choice of devices out of an environment.
func Environment(env []string) map[string]string {
	return parseEnviron([]byte(strings.Join(env, "\x00")))
}
