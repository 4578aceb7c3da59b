//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// row prints the row of doctor about requests, as it is for somebody who has some capabilities whatever he starts.
func row(who, program string, uid uint32, has ...uintptr) {
	cmd := command(program, "doctor")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}, AmbientCaps: has}
	cmd.Dir = "/"
	out, _ := cmd.CombinedOutput() //nolint:errcheck // what it says counts
	said := ""
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "requests ") || said != "" && strings.HasPrefix(line, "      ") {
			said += strings.TrimRight(line, "\n") + "\n"
		} else if said != "" {
			break
		}
	}
	if said == "" {
		said = string(out)
	}
	on := command("/bin/busybox", "timeout", "20", program, "stream", "--requests", "on", "--interval", "1h")
	on.SysProcAttr, on.Dir = cmd.SysProcAttr, "/"
	var errs bytes.Buffer
	on.Stderr = &errs
	out, _ = on.Output() //nolint:errcheck // what it says counts
	end := "streams"
	if len(out) == 0 {
		end = strings.TrimSpace(errs.String())
	}
	fmt.Printf("%s:\n%s    stream --requests on: %s\n", who, said, end)
}

// doctor says why requests are not seen, and what would help: as root, as somebody, with capabilities, in a container, locked down.
func doctor() bool {
	with := "/bin/nvpeak-capable"
	if err := errors.Join(copyTo(with, "/bin/nvpeak"), setcap([]string{"cap_bpf,cap_perfmon+ep", with})); err != nil {
		fmt.Println(err)
		return false
	}
	row("root", "/bin/nvpeak", 0)
	row("somebody", "/bin/nvpeak", nobody)
	row("somebody, cap_bpf,cap_perfmon+ep", with, nobody)
	if err := os.WriteFile("/.dockerenv", nil, 0o600); err == nil {
		row("in a container", "/bin/nvpeak", nobody)
		row("in a container, --cap-add BPF --cap-add PERFMON", "/bin/nvpeak", nobody, unix.CAP_BPF, unix.CAP_PERFMON)
		row("in a container, --cap-add SYS_ADMIN", "/bin/nvpeak", nobody, unix.CAP_SYS_ADMIN)
		most := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
		if unix.Setrlimit(unix.RLIMIT_MEMLOCK, &most) == nil {
			row("in a container, --cap-add SYS_ADMIN --ulimit memlock=-1", "/bin/nvpeak", nobody, unix.CAP_SYS_ADMIN)
		}
		os.Remove("/.dockerenv") //nolint:errcheck // it was only for this
	}
	for _, level := range []string{"integrity", "confidentiality"} {
		if err := os.WriteFile("/sys/kernel/security/lockdown", []byte(level), 0o600); err != nil {
			fmt.Printf("lockdown=%s: %v\n", level, err)
			continue
		}
		row("root, lockdown="+level, "/bin/nvpeak", 0)
	}
	row("somebody, lockdown", "/bin/nvpeak", nobody)
	row("somebody, cap_bpf,cap_perfmon+ep, lockdown", with, nobody)
	return true
}
