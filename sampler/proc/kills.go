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

// groupFiles are where the kernel counts for a control group: version 2 and version 1.
// https://docs.kernel.org/admin-guide/cgroup-v2.html, https://docs.kernel.org/admin-guide/cgroup-v1/memory.html
var groupFiles = []struct{ controller, root, name string }{
	{"0::", "/sys/fs/cgroup", "/memory.events"},
	{":memory:", "/sys/fs/cgroup/memory", "/memory.oom_control"},
}

// OOMKills counts now. What cannot be read counts as none.
func OOMKills() Kills {
	vmstat, _ := os.ReadFile("/proc/vmstat")
	k := Kills{machine: counter(vmstat, "oom_kill ")}
	ours, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(ours)) {
		for _, f := range groupFiles {
			_, path, ok := strings.Cut(strings.TrimSpace(line), f.controller)
			if !ok {
				continue
			}
			for _, dir := range []string{f.root + path, f.root} { // in a container its own is the root
				if counts, err := os.ReadFile(dir + f.name); err == nil {
					k.group += counter(counts, "oom_kill ")
					break
				}
			}
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
