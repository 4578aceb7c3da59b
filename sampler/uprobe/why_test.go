//go:build linux && (amd64 || arm64)

package uprobe

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cilium/ebpf"

	"nvpeak/sampler/request"
)

// A binary with capabilities, run by somebody without any.
func TestCapabilities(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root gives capabilities to a file")
	}
	needTool(t, "setcap")
	// The directory of a test is root's own.
	dir, err := os.MkdirTemp("", "nvpeak-caps-") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) }) //nolint:errcheck // it is temporary
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "capable.test")
	if err := os.WriteFile(binary, self, 0o755); err != nil { //nolint:gosec // somebody else runs it
		t.Fatal(err)
	}
	run := func() string {
		cmd := exec.Command(binary, "-test.run", "^TestAsSomebody$", "-test.v")
		cmd.Env = append(os.Environ(), "AS_SOMEBODY=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	if out := run(); !strings.Contains(out, ErrPrivilege.Error()) {
		t.Errorf("without: %s", out)
	}
	if out, err := exec.Command("setcap", "cap_bpf,cap_perfmon+ep", binary).CombinedOutput(); err != nil {
		t.Fatalf("setcap: %v\n%s", err, out)
	}
	want := "the door is open, ends are seen: true, libraries that are loaded: true"
	if !haveMulti() { // also where there is no libcuda yet, as here
		want = ErrPrivilege.Error()
	}
	if out := run(); !strings.Contains(out, want) {
		t.Errorf("with: %s", out)
	}
}

// TestAsSomebody is what TestCapabilities runs.
func TestAsSomebody(t *testing.T) {
	if os.Getenv("AS_SOMEBODY") == "" {
		t.Skip("a part of TestCapabilities")
	}
	d, err := Open(request.New(everybody{}), Options{Libraries: []string{"/lib/x86_64-linux-gnu/libc.so.6"}})
	if err != nil {
		t.Log(err)
		return
	}
	defer d.Close()
	t.Logf("the door is open, ends are seen: %v, libraries that are loaded: %v", len(d.ends) == 3, d.loading)
}

// Why there is no door.
func TestWhyNot(t *testing.T) {
	for want, err := range map[error]error{
		ErrKernel: fmt.Errorf("link: %w", ebpf.ErrNotSupported),
		ErrBroken: errors.New("no such map"),
	} {
		if got := whyNot(err, false); !errors.Is(got, want) || !errors.Is(got, err) {
			t.Errorf("%v: %v", err, got)
		}
	}
	for status, want := range map[string]bool{ // and one by one where it is SYS_ADMIN
		"Name:\tx\nCapEff:\t0000000000000000\n": false,
		"CapEff:\t000000c000000000\n":           true,  // BPF and PERFMON
		"CapEff:\t0000008000000000\n":           false, // BPF alone
		"CapEff:\t0000004000000000\n":           false, // PERFMON alone
		"CapEff:\t0000000000200000\n":           true,  // SYS_ADMIN
		"CapEff:\tmuch\n":                       false,
		"":                                      false,
	} {
		if got := mayLoad(status, false); got != want {
			t.Errorf("%q: %v", status, got)
		}
		if got := mayLoad(status, true); got != strings.HasSuffix(status, "200000\n") {
			t.Errorf("%q, one by one: %v", status, got)
		}
	}
}

// A kernel that is locked down does not say so: it does not know the functions that read a program's memory.
func TestLocked(t *testing.T) {
	defer func(old string) { lockdown = old }(lockdown)
	lockdown = filepath.Join(t.TempDir(), "lockdown")
	for text, want := range map[string]error{"none integrity [confidentiality]\n": ErrLockdown, "none [integrity] confidentiality\n": ErrBroken} {
		if err := os.WriteFile(lockdown, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := fmt.Errorf("load program: %w: unknown func bpf_probe_read#4", syscall.EINVAL)
		if got := whyNot(err, false); !errors.Is(got, want) {
			t.Errorf("%q: %v", text, got)
		}
	}
}
