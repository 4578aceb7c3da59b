package nvmltest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Variant is an age of driver. Older ones lack symbols that newer ones have.
type Variant string

// The ages there are; their source is compiled with the flags that each stands for.
const (
	Current Variant = ""                  // every symbol
	R470    Variant = "-DOLD_DRIVER=470"  // no MemoryInfo_v2, no _v3 process lists, no EventReasons
	R418    Variant = "-DOLD_DRIVER=418"  // nor MIG, MPS and _v2 process lists, PciInfo_v3, EventSetWait_v2, Architecture
	checker Variant = "-DFAKENVML_CHECK=" // a program that reads scenarios
)

// The name matters: programs look for it along LD_LIBRARY_PATH.
const libraryName = "libnvidia-ml.so.1"

// Library builds the fake driver and gives its path. It is built once for its source,
// also across test processes. Without a C compiler the test fails.
func Library(t testing.TB, variant Variant) string {
	t.Helper()
	return built(t, variant, libraryName, "-shared", "-fPIC")
}

// Clock is the variable that gives a child's C code a clock that only sleeping moves; late, "FROM,TO,BY" in
// nanoseconds or empty, makes sleeps end later (testdata/fakenvml/clock.c).
func Clock(t testing.TB, late string) []string {
	t.Helper()
	path, err := build(filepath.Join(home(t), "clock.c"), "clock.so", []string{"-shared", "-fPIC", "-O2", "-Wall", "-Wextra"})
	if err != nil {
		t.Fatal(err)
	}
	return []string{"LD_PRELOAD=" + path, "CLOCK_LATE=" + late}
}

func built(t testing.TB, variant Variant, name string, flags ...string) string {
	t.Helper()
	flags = append(flags, "-O2", "-Wall", "-Wextra")
	if variant != Current {
		flags = append(flags, string(variant))
	}
	path, err := build(source(t), name, flags)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// build compiles into a directory named after source, compiler and flags. Two processes
// that build at the same time both succeed: the last rename wins, with equal bytes.
func build(src, name string, flags []string) (string, error) {
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "gcc"
	}
	if _, err := exec.LookPath(cc); err != nil {
		return "", fmt.Errorf("no C compiler %q: the fake driver needs one (install gcc, or name another in CC)", cc)
	}
	text, err := os.ReadFile(src)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(fmt.Appendf(text, "\x00%s\x00%q", cc, flags))
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, hex.EncodeToString(sum[:8]))
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return path, compile(cc, src, path, flags)
}

func compile(cc, src, path string, flags []string) error {
	half, err := os.CreateTemp(filepath.Dir(path), "half-")
	if err != nil {
		return err
	}
	defer os.Remove(half.Name())
	half.Close()
	args := append([]string{"-o", half.Name()}, flags...)
	args = append(args, src, "-lpthread", "-ldl")
	var out bytes.Buffer
	cmd := exec.Command(cc, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out.Bytes())
	}
	return errors.Join(os.Chmod(half.Name(), 0o755), os.Rename(half.Name(), path))
}

// cacheDir is the user's own: what lies there is loaded as code. Where there is none,
// each test process has a directory that only it knows.
var cacheDir = sync.OnceValues(func() (string, error) {
	if dir, err := os.UserCacheDir(); err == nil {
		dir = filepath.Join(dir, "nvpeak-fakenvml")
		if err := os.MkdirAll(dir, 0o700); err == nil {
			return dir, nil
		}
	}
	return os.MkdirTemp("", "nvpeak-fakenvml-")
})

// source finds the C file from the directory that go test runs in.
func source(t testing.TB) string {
	t.Helper()
	return filepath.Join(home(t), "fakenvml.c")
}

func home(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		home := filepath.Join(dir, "testdata", "fakenvml")
		if _, err := os.Stat(filepath.Join(home, "fakenvml.c")); err == nil {
			return home
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("testdata/fakenvml/fakenvml.c is not above the working directory")
		}
		dir = parent
	}
}
