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

// Kernels from which on file capabilities suffice, for they set many probes in one call, and those that have what the programs need.
var (
	multiKernel = release{6, 6}
	tallyKernel = release{5, 11} // before, what BPF keeps counts as locked memory
	firstKernel = release{5, 8}
)

type release struct{ major, minor int }

func (r release) before(other release) bool {
	return r.major < other.major || r.major == other.major && r.minor < other.minor
}

// container gives nvpeak in a container what it takes; a profile of seccomp may still stand in the way.
const (
	containerFix = "docker run --cap-add BPF --cap-add PERFMON --pid=host …"
	adminFix     = "docker run --cap-add SYS_ADMIN --pid=host …" // which brings the profile with it
	lockedFix    = "docker run --cap-add SYS_ADMIN --ulimit memlock=-1 --pid=host …"
	seccompFix   = "docker run --cap-add BPF --cap-add PERFMON --security-opt seccomp=unconfined --pid=host …"
	hostPIDsFix  = "docker run --pid=host …"
	libcudaFix   = "docker run -e NVIDIA_DRIVER_CAPABILITIES=compute,utility …"
)

// checkRequests looks whether the requests for GPU memory are seen at the driver.
func checkRequests(c *checkup) finding {
	d, inside := c.door, checkContainer(c).Why != c.say("doctor.no_container")
	name, kernel := c.kernel()
	old := kernel.before(multiKernel)
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
	case errors.Is(d.err, uprobe.ErrKernel) && old, errors.Is(d.err, uprobe.ErrBroken) && kernel.before(firstKernel):
		return unavailable(c.say("doctor.update_kernel"), c.say("doctor.old_kernel", "release", name))
	case errors.Is(d.err, uprobe.ErrKernel):
		return unavailable("grep -E 'CONFIG_(BPF_SYSCALL|UPROBES|UPROBE_EVENTS)=' /boot/config-$(uname -r)", c.say("doctor.no_bpf"))
	case errors.Is(d.err, uprobe.ErrLockdown):
		return unavailable(c.say("doctor.fix_lockdown"), c.say("doctor.lockdown"))
	case (errors.Is(d.err, uprobe.ErrSeccomp) || errors.Is(d.err, uprobe.ErrPrivilege)) && old && inside:
		fix := adminFix
		if kernel.before(tallyKernel) {
			fix = lockedFix
		}
		return unavailable(fix, c.say("doctor.privilege_old_inside", "release", name))
	case errors.Is(d.err, uprobe.ErrSeccomp) && inside:
		return unavailable(seccompFix, c.say("doctor.seccomp"))
	case errors.Is(d.err, uprobe.ErrPrivilege) && inside:
		return unavailable(containerFix, c.say("doctor.privilege"))
	case (errors.Is(d.err, uprobe.ErrSeccomp) || errors.Is(d.err, uprobe.ErrPrivilege)) && old:
		return unavailable("sudo nvpeak", c.say("doctor.privilege_old", "release", name))
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

// kernel is the release of the kernel, as it is told and as numbers; unknown ones are those of a new one.
func (c *checkup) kernel() (name string, r release) {
	name = strings.TrimSpace(c.file("/proc/sys/kernel/osrelease"))
	if n, _ := fmt.Sscanf(name, "%d.%d", &r.major, &r.minor); n != 2 {
		r = multiKernel
	}
	return name, r
}
