package uprobe

import (
	"errors"
	"os"
	"strconv"
	"strings"
)

// Why requests are not seen.
var (
	ErrPrivilege = errors.New("loading BPF programs needs a privilege")
	ErrLockdown  = errors.New("the kernel is locked down against reading user memory by BPF")
	ErrSeccomp   = errors.New("the kernel's answer is no in spite of all capabilities: a container's seccomp profile, or a security module")
	ErrKernel    = errors.New("this kernel has no uprobes for BPF")
	ErrBroken    = errors.New("the BPF programs could not be loaded")
)

// The capabilities that it takes, as bits of CapEff: https://man7.org/linux/man-pages/man7/capabilities.7.html
const (
	capSysAdmin = 21
	capPerfmon  = 38
	capBPF      = 39
)

// capable says whether this process has the right to load them, and to set many probes at once; single: or one by one.
func capable(single bool) bool {
	status, err := os.ReadFile("/proc/self/status")
	return err == nil && mayLoad(string(status), single)
}

func mayLoad(status string, single bool) bool {
	for line := range strings.Lines(status) {
		if v, ok := strings.CutPrefix(line, "CapEff:"); ok {
			bits, err := strconv.ParseUint(strings.TrimSpace(v), 16, 64)
			return err == nil && (bits>>capSysAdmin&1 == 1 || !single && bits>>capPerfmon&1 == 1 && bits>>capBPF&1 == 1)
		}
	}
	return false
}

// locked says whether lockdown mode keeps BPF from user memory: https://man7.org/linux/man-pages/man7/kernel_lockdown.7.html
func locked() bool {
	b, err := os.ReadFile(lockdown)
	return err == nil && strings.Contains(string(b), "[confidentiality]")
}

var lockdown = "/sys/kernel/security/lockdown"
