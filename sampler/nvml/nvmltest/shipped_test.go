package nvmltest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func statsFile() string { return os.Getenv("FAKENVML_STATS") }

func TestShippedScenariosAreWellFormed(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(home(t), "scenarios", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatal("no scenarios", err)
	}
	for _, f := range files {
		if err := check(t, f); err != nil {
			t.Error(err)
		}
	}
}

func TestMistakesAreNamed(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{"gpo 0", `:1: do not know "gpo"`},
		{"\ngpu 1", ":2: gpu 1 comes before gpu 0"},
		{"gpu 0 colour=red", `do not know "colour=red"`},
		{"gpu 0\nmem 1 used=1GiB", `no GPU "1" yet`},
		{"gpu 0\nmem 0 used=1GB", `"1GB" has no known unit`},
		{"gpu 0\nmem 0 at=5 used=1GiB", `"5" has no known unit`},
		{"fail nvmlDeviceGetMemory code=UNKNOWN", `no function "nvmlDeviceGetMemory"`},
		{"fail * code=BROKEN", `"BROKEN" is no return code`},
		{`gpu 0 name="open`, "quote is not closed"},
		{"gpu 0\nmig 0 index=0", "not in MIG mode"},
		{"reload at=1s order=2", "no GPU 2"},
	} {
		path := filepath.Join(t.TempDir(), "bad.txt")
		if err := os.WriteFile(path, []byte(row.text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := check(t, path)
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%q: got %v, want %q", row.text, err, row.want)
		}
	}
}

func TestMissingCompilerIsNamed(t *testing.T) {
	t.Setenv("CC", "no-such-compiler")
	_, err := build(source(t), libraryName, nil)
	if err == nil || !strings.Contains(err.Error(), `"no-such-compiler"`) || !strings.Contains(err.Error(), "gcc") {
		t.Errorf("got %v", err)
	}
}

func TestStatsRefuseNonsense(t *testing.T) {
	for _, text := range []string{"", "# start_unix_ns=x", "nvmlInit 1 2\n", "# start_unix_ns=1 elapsed_ns=2\nnvmlInit one\n"} {
		if s, err := parseStats([]byte(text)); err == nil {
			t.Errorf("%q: %+v", text, s)
		}
	}
	s, err := parseStats([]byte("# start_unix_ns=1000000001 elapsed_ns=5\n# function calls busy_ns\nnvmlInit_v2 1 7\nnvmlShutdown 2 1\n"))
	if err != nil || s.Start.UnixNano() != 1000000001 || s.Total() != (Calls{3, 8}) {
		t.Errorf("%+v, %v", s, err)
	}
}
