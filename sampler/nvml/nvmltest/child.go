package nvmltest

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

const childVariable = "NVMLTEST_CHILD"

// Child runs the calling test again in a process of its own that plays the scenario.
// In that process it returns the library's path and true and the test does its work;
// in the first one it passes on the result and returns false: return then.
// It must be called once a test, before anything else of weight.
func Child(t *testing.T, variant Variant, scenario string, env ...string) (lib string, inside bool) {
	t.Helper()
	if os.Getenv(childVariable) == t.Name() {
		return os.Getenv("NVPEAK_NVML"), true
	}
	lib = Library(t, variant)
	cmd := exec.Command(os.Args[0], "-test.run="+exactly(t.Name()), "-test.v", "-test.count=1")
	cmd.Env = append(os.Environ(), Env(lib, scenario, env...)...)
	// Under -race a program waits a second at its end for reports of other threads.
	cmd.Env = append(cmd.Env, childVariable+"="+t.Name(), "GORACE="+os.Getenv("GORACE")+" atexit_sleep_ms=0")
	out, err := cmd.CombinedOutput()
	switch {
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	case !bytes.Contains(out, []byte("--- PASS: "+t.Name()+" ")):
		t.Errorf("the child did not run this test\n%s", out)
	case testing.Verbose():
		t.Logf("%s", out)
	}
	return "", false
}

// exactly is the -test.run pattern of one test or subtest: each level is matched on its own.
func exactly(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}
