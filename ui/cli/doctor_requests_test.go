package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nvpeak/sampler/uprobe"
)

// Each reason for which requests are not seen has its own row, with the one command for the place.
func TestDoctorRequests(t *testing.T) {
	why := func(reason error) error { return fmt.Errorf("%w: %w", reason, fs.ErrPermission) }
	const capabilities = "sudo setcap cap_bpf,cap_perfmon+ep "
	for name, row := range map[string]struct {
		door   doorState
		kernel string
		inside bool
		state  string
		say    string
		fix    string // or how it begins, where it names a file
	}{
		"seen":                   {doorState{libraries: 2}, "6.18.0", false, stateOK, "uprobes on 2 libcuda, all at once", ""},
		"seen, old kernel":       {doorState{libraries: 1, single: true}, "5.15.0-91-generic", false, stateOK, "one at a time", ""},
		"own pids only":          {doorState{libraries: 1, inside: true}, "6.18.0", true, statePartial, "in this pid namespace only", "docker run --pid=host …"},
		"no library":             {doorState{}, "6.18.0", false, statePartial, "no libcuda.so.1", "sudo apt install nvidia-driver (in a container: docker run --gpus all …)"},
		"no library inside":      {doorState{}, "6.18.0", true, statePartial, "no libcuda.so.1", "docker run -e NVIDIA_DRIVER_CAPABILITIES=compute,utility …"},
		"no privilege":           {doorState{err: why(uprobe.ErrPrivilege)}, "6.6.0", false, stateUnavailable, "BPF and PERFMON", capabilities},
		"no privilege inside":    {doorState{err: why(uprobe.ErrPrivilege)}, "6.8.0", true, stateUnavailable, "BPF and PERFMON", "docker run --cap-add BPF --cap-add PERFMON --pid=host …"},
		"old, inside":            {doorState{err: why(uprobe.ErrPrivilege)}, "6.1.0", true, stateUnavailable, "the capability SYS_ADMIN", "docker run --cap-add SYS_ADMIN --pid=host …"},
		"older, inside":          {doorState{err: why(uprobe.ErrPrivilege)}, "5.10.0", true, stateUnavailable, "the capability SYS_ADMIN", "docker run --cap-add SYS_ADMIN --ulimit memlock=-1 --pid=host …"},
		"the two, old, inside":   {doorState{err: why(uprobe.ErrSeccomp)}, "6.1.0", true, stateUnavailable, "from 6.6 on", "docker run --cap-add SYS_ADMIN --pid=host …"},
		"no privilege, old":      {doorState{err: why(uprobe.ErrPrivilege)}, "6.5.13", false, stateUnavailable, "Linux 6.5.13", "sudo nvpeak"},
		"capabilities, old":      {doorState{err: why(uprobe.ErrSeccomp)}, "5.15.0", false, stateUnavailable, "from 6.6 on", "sudo nvpeak"},
		"seccomp":                {doorState{err: why(uprobe.ErrSeccomp)}, "6.8.0", true, stateUnavailable, "seccomp profile", "docker run --cap-add BPF --cap-add PERFMON --security-opt seccomp=unconfined --pid=host …"},
		"security module":        {doorState{err: why(uprobe.ErrSeccomp)}, "6.8.0", false, stateUnavailable, "security module", "sudo dmesg | grep -iE 'denied|audit'"},
		"lockdown":               {doorState{err: why(uprobe.ErrLockdown)}, "6.8.0", false, stateUnavailable, "locked down", "boot with lockdown=integrity"},
		"kernel too old":         {doorState{err: uprobe.ErrKernel}, "4.19.0", false, stateUnavailable, "Linux 4.19.0", "update the kernel to 6.6 or newer"},
		"no ring buffer":         {doorState{err: fmt.Errorf("%w: map create: invalid argument", uprobe.ErrBroken)}, "5.4.0", false, stateUnavailable, "Linux 5.4.0", "update the kernel to 6.6 or newer"},
		"kernel without BPF":     {doorState{err: uprobe.ErrKernel}, "6.8.0", false, stateUnavailable, "without BPF", "grep -E 'CONFIG_(BPF_SYSCALL|UPROBES|UPROBE_EVENTS)=' /boot/config-$(uname -r)"},
		"kernel without release": {doorState{err: uprobe.ErrKernel}, "", false, stateUnavailable, "without BPF", "grep -E 'CONFIG_(BPF_SYSCALL|UPROBES|UPROBE_EVENTS)=' /boot/config-$(uname -r)"},
		"broken":                 {doorState{err: fmt.Errorf("%w: %w", uprobe.ErrBroken, errors.New("no space left on device"))}, "6.8.0", false, stateUnavailable, "no space left on device", ""},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			write := func(name, text string) {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write("proc/sys/kernel/osrelease", row.kernel+"\n")
			if row.inside {
				write(".dockerenv", "")
			}
			f := checkRequests(&checkup{app: &app{}, root: root, door: row.door})
			if row.fix == capabilities { // of this very binary
				path := strings.TrimPrefix(f.Fix, capabilities)
				if _, err := os.Stat(path); err != nil {
					t.Errorf("%q: %v", path, err)
				}
				f.Fix = capabilities
			}
			if f.State != row.state || !strings.Contains(f.Why, row.say) || f.Fix != row.fix {
				t.Errorf("%+v, want %s with %q, %q", f, row.state, row.say, row.fix)
			}
		})
	}
}

// doctor itself has the row, whether or not it may look here.
func TestDoctorHasRequests(t *testing.T) {
	out, _, _ := command(t, "doctor", "--nvml-lib", filepath.Join(t.TempDir(), "libnothing.so"))
	if !strings.Contains(out, "\nrequests ") {
		t.Errorf("no row in\n%s", out)
	}
}
