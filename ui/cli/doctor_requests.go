package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"nvpeak/sampler"
	"nvpeak/sampler/proc"
	"nvpeak/sampler/request"
	"nvpeak/sampler/uprobe"
)

// doorState is what came of an attempt to see requests.
type doorState struct {
	err       error
	single    bool
	inside    bool
	libraries int
}

// tryDoor opens the door beside the processes that the driver lists, and closes it.
func tryDoor(processes [][]sampler.Process) doorState {
	tracker, s := request.New(proc.New(proc.Options{})), &sampler.Snapshot{}
	for _, list := range processes {
		s.GPUs = append(s.GPUs, sampler.GPU{Processes: list})
	}
	tracker.Apply(s)
	door, err := uprobe.Open(tracker, uprobe.Options{})
	if err != nil {
		return doorState{err: err}
	}
	defer door.Close()
	return doorState{single: door.Single(), inside: door.Inside(), libraries: door.Libraries()}
}

// The first kernel on which file capabilities suffice, for it sets many probes in one call.
const multiMajor, multiMinor = 6, 6

// container gives nvpeak in a container what it takes; a profile of seccomp may still stand in the way.
const (
	containerFix = "docker run --cap-add BPF --cap-add PERFMON --pid=host …"
	seccompFix   = "docker run --cap-add BPF --cap-add PERFMON --security-opt seccomp=unconfined --pid=host …"
	hostPIDsFix  = "docker run --pid=host …"
	libcudaFix   = "docker run -e NVIDIA_DRIVER_CAPABILITIES=compute,utility …"
)

// checkRequests looks whether the requests for GPU memory are seen at the driver.
func checkRequests(c *checkup) finding {
	d, inside := c.door, checkContainer(c).Why != c.say("doctor.no_container")
	release, old := c.kernel()
	switch {
	case d.err == nil && d.libraries == 0 && inside:
		return partial(libcudaFix, c.say("doctor.no_libcuda"))
	case d.err == nil && d.libraries == 0:
		return partial(openFixes[sampler.ErrNoLibrary], c.say("doctor.no_libcuda"))
	case d.err == nil && d.inside:
		return partial(hostPIDsFix, c.say("doctor.requests_inside", "count", d.libraries))
	case d.err == nil && d.single:
		return ok(c.say("doctor.requests_single", "count", d.libraries))
	case d.err == nil:
		return ok(c.say("doctor.requests", "count", d.libraries))
	case errors.Is(d.err, uprobe.ErrKernel) && old:
		return unavailable(c.say("doctor.update_kernel"), c.say("doctor.old_kernel", "release", release))
	case errors.Is(d.err, uprobe.ErrKernel):
		return unavailable("grep -E 'CONFIG_(BPF_SYSCALL|UPROBES|UPROBE_EVENTS)=' /boot/config-$(uname -r)", c.say("doctor.no_bpf"))
	case errors.Is(d.err, uprobe.ErrLockdown):
		return unavailable(c.say("doctor.fix_lockdown"), c.say("doctor.lockdown"))
	case errors.Is(d.err, uprobe.ErrSeccomp) && inside:
		return unavailable(seccompFix, c.say("doctor.seccomp"))
	case errors.Is(d.err, uprobe.ErrPrivilege) && inside:
		return unavailable(containerFix, c.say("doctor.privilege"))
	case (errors.Is(d.err, uprobe.ErrSeccomp) || errors.Is(d.err, uprobe.ErrPrivilege)) && old:
		return unavailable("sudo nvpeak", c.say("doctor.privilege_old", "release", release))
	case errors.Is(d.err, uprobe.ErrSeccomp):
		return unavailable("sudo dmesg | grep -iE 'denied|audit'", c.say("doctor.module"))
	case errors.Is(d.err, uprobe.ErrPrivilege):
		return unavailable(setcap(), c.say("doctor.privilege"))
	}
	return unavailable("", d.err.Error())
}

// setcap is the command that lets this binary see requests.
func setcap() string {
	path, err := os.Executable()
	if err != nil {
		path = "$(which nvpeak)"
	} else if strings.ContainsAny(path, " \t'\"\\$`&;()<>|*?[]#~!{}") {
		path = "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return "sudo setcap cap_bpf,cap_perfmon+ep " + path
}

// kernel is the release of the kernel, and whether it is of before the probes that need no more than two capabilities.
func (c *checkup) kernel() (release string, old bool) {
	release = strings.TrimSpace(c.file("/proc/sys/kernel/osrelease"))
	var major, minor int
	n, _ := fmt.Sscanf(release, "%d.%d", &major, &minor)
	return release, n == 2 && (major < multiMajor || major == multiMajor && minor < multiMinor)
}
