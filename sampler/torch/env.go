package torch

import (
	"cmp"
	_ "embed" // the reporter
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nvpeak/sampler/torchsnap"
)

// reporter is what every Python program below a command reads, byLine what it reads as well where lines are named.
var (
	//go:embed sitecustomize.py
	reporter []byte
	//go:embed nvpeak_lines.py
	byLine []byte
)

const (
	pathVariable   = "PYTHONPATH"
	reportVariable = "NVPEAK_REPORT" // the directories of sockets
	linesVariable  = "NVPEAK_LINES"  // the percentage of the time that telling source lines may take
)

// Env is the environment with which Python programs below a command report. When it cannot be made the environment
// is as it was. What it needs is there until Close.
func (r *Receiver) Env(environ []string) ([]string, error) {
	dir := filepath.Join(r.base, sites, r.name)
	if err := errors.Join(private(filepath.Dir(dir)), private(dir)); err != nil {
		return environ, err
	}
	if err := writeReporter(dir); err != nil {
		os.RemoveAll(dir)
		return environ, err
	}
	list := string(os.PathListSeparator)
	var to []string
	for _, base := range r.bases {
		if path := filepath.Join(base, monitors); !strings.Contains(path, list) {
			to = append(to, path)
		}
	}
	environ = slices.Clone(environ)
	environ = with(environ, pathVariable, func(old string) string {
		if old == "" { // an empty entry would be the working directory
			return dir
		}
		return dir + list + old
	})
	return with(environ, reportVariable, func(old string) string {
		for _, path := range strings.Split(old, list) { // of a run around this one
			if path != "" && !slices.Contains(to, path) {
				to = append(to, path)
			}
		}
		return strings.Join(to, list)
	}), nil
}

// ByLine is the environment with which they also tell which source lines hold what.
func ByLine(environ []string) []string {
	return with(slices.Clone(environ), linesVariable, func(old string) string { return cmp.Or(old, "1") })
}

// writeReporter writes what Python reads. What tells lines of a program from those of libraries is written in one
// place, and JSON is Python, too.
func writeReporter(dir string) error {
	patterns, err := json.Marshal(torchsnap.Patterns())
	if err != nil {
		return err
	}
	lines := slices.Concat([]byte("PATTERNS = "), patterns, []byte("\n"), byLine)
	return errors.Join(os.WriteFile(filepath.Join(dir, "sitecustomize.py"), reporter, 0o600),
		os.WriteFile(filepath.Join(dir, "nvpeak_lines.py"), lines, 0o600))
}

// with gives a variable another value. The last of a name counts, as for os/exec.
func with(environ []string, name string, value func(old string) string) []string {
	old := ""
	environ = slices.DeleteFunc(environ, func(entry string) bool {
		v, ok := strings.CutPrefix(entry, name+"=")
		if ok {
			old = v
		}
		return ok
	})
	return append(environ, name+"="+value(old))
}
