//go:build linux

// Vm is what docs/vm/run starts in its virtual machine. It is a stand-in for gcc and setcap there, too.
package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	made     = "/made" // what run has compiled
	cuda     = made + "/libcuda.so.1"
	nvml     = made + "/libnvidia-ml.so.1"
	nobody   = 65534
	scenario = "/tmp/scenario"
	shared   = "/tmp/shared"
)

var parts = map[string]func() bool{"tests": tests, "doctor": doctor, "events": events, "cost": cost}

func main() {
	switch filepath.Base(os.Args[0]) {
	case "gcc":
		exit(compile(os.Args[1:]))
	case "setcap":
		exit(setcap(os.Args[1:]))
	}
	var name unix.Utsname
	unix.Uname(&name) //nolint:errcheck // it is then empty
	fmt.Printf("\n# Linux %s, %s, %s\n", unix.ByteSliceToString(name.Release[:]), runtime.GOARCH, os.Args[1])
	list := os.Args[2:]
	if len(list) == 0 {
		list = []string{"tests", "events", "cost", "doctor"} // the last locks the kernel down
	}
	ok := true
	for _, part := range list {
		fmt.Printf("\n## %s\n", part)
		if run := parts[part]; run != nil {
			ok = run() && ok
			continue
		}
		cmd := exec.Command("sh", "-c", part)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		ok = cmd.Run() == nil && ok
	}
	if !ok {
		os.Exit(1)
	}
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// compile hands out what was compiled before, by the name of its source.
func compile(args []string) error {
	from := map[string]string{"fakecuda.c": "libcuda.so.1", "play.c": "play", "fakenvml.c": "libnvidia-ml.so.1", "null": "null"}
	out := ""
	for i, arg := range args {
		if arg == "-o" && i+1 < len(args) {
			out = args[i+1]
		}
	}
	for _, arg := range args {
		name := from[filepath.Base(arg)]
		if name == "libnvidia-ml.so.1" && slices.Contains(args, "-DFAKENVML_CHECK=") {
			name = "check"
		}
		if name != "" && arg != out {
			return copyTo(out, filepath.Join(made, name))
		}
	}
	return errors.New("gcc: this is none, and that was not compiled before")
}

func copyTo(to, from string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o755) //nolint:gosec // it is run
}

// setcap gives a file the capabilities PERFMON and BPF.
func setcap(args []string) error {
	if len(args) != 2 || args[0] != "cap_bpf,cap_perfmon+ep" {
		return errors.New("setcap: this gives cap_bpf,cap_perfmon+ep")
	}
	// struct vfs_cap_data of linux/capability.h: permitted and inheritable, 32 of each, and again.
	const revision2, effective = 0x02000000, 1
	b := binary.LittleEndian.AppendUint32(nil, revision2|effective)
	for _, word := range []uint32{0, 0, 1<<(unix.CAP_PERFMON-32) | 1<<(unix.CAP_BPF-32), 0} {
		b = binary.LittleEndian.AppendUint32(b, word)
	}
	return unix.Setxattr(args[1], "security.capability", b, 0)
}

// tests are those of the repository.
func tests() bool {
	ok := true
	for _, x := range []struct{ dir, name, run, skip string }{
		{"/src/sampler/uprobe", "uprobe.test", ".", "^TestAliases$|^TestWithoutSections$"}, // these compile libraries of their own, and no kernel has a part in them
		{"/src/ui/cli/e2e", "e2e.test", "^TestExactPeaks$|^TestRefusals$|^TestDoctorFindsALibrary$|^TestRunTellsARefusal$", "^$"},
	} {
		cmd := exec.Command("./"+x.name, "-test.v", "-test.parallel=1", "-test.timeout=20m", "-test.run", x.run, "-test.skip", x.skip)
		cmd.Dir, cmd.Env = x.dir, append(os.Environ(), "NVPEAK_TEST_BINARY=/bin/nvpeak")
		out, err := cmd.CombinedOutput()
		ok = ok && err == nil
		count := map[string]int{}
		for line := range strings.Lines(string(out)) {
			for _, word := range []string{"PASS", "FAIL", "SKIP"} {
				if strings.HasPrefix(strings.TrimLeft(line, " "), "--- "+word+":") {
					count[word]++
				}
			}
		}
		fmt.Printf("%s: %d passed, %d failed, %d skipped\n", x.dir, count["PASS"], count["FAIL"], count["SKIP"])
		if err != nil || count["SKIP"] > 0 {
			text := strings.Split(string(out), "\n")
			for i, line := range text {
				if !strings.HasPrefix(line, "=== ") && !strings.Contains(line, "--- PASS") && (err != nil || strings.Contains(line, "SKIP") || i > 0 && strings.Contains(text[i-1], "SKIP")) {
					fmt.Println("   ", line)
				}
			}
		}
	}
	return ok
}

// command is a run of nvpeak on the fake driver, with the fake libcuda where systems have it.
func command(program string, args ...string) *exec.Cmd {
	os.Remove(shared) //nolint:errcheck // it may not be there
	text := "gpu 0-1 total=8GiB reserved=0 name=\"H100\"\nprograms " + shared + "\n"
	if err := errors.Join(os.MkdirAll("/usr/lib", 0o755), copyTo("/usr/lib/libcuda.so.1", cuda), os.WriteFile(scenario, []byte(text), 0o644)); err != nil { //nolint:gosec // others read it
		exit(err)
	}
	cmd := exec.Command(program, append(args, "--nvml-lib", nvml)...)
	cmd.Env = append(os.Environ(), "FAKENVML_SCENARIO="+scenario, "LANG=C.UTF-8")
	return cmd
}
