package tape

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nvpeak/sampler"
)

// partOf is the name of a finished part: its recording, its number, its ending.
var partOf = sampler.Pattern{Source: `^(.+)\.(\d{4,})(\.[^/]*)$`}

// RecordingOf is the recording that a file is a part of: run.jsonl of run.0001.jsonl. Any other file is its own.
func RecordingOf(path string) string {
	if m := partOf.Get().FindStringSubmatch(filepath.Clean(path)); m != nil && strings.Contains(m[3], ".jsonl") {
		return m[1] + m[3]
	}
	return filepath.Clean(path)
}

// Recording is a recording by its name, and the files that it is read from.
type Recording struct {
	Name  string
	Files []string
}

// ErrNoRecordings is said of a directory.
var ErrNoRecordings = errors.New("a directory without recordings")

// Find sorts files into recordings, in the order in which they come: the parts of a rotated one are
// one. A directory stands for the recordings in it, and a name with * ? or [ for those that it fits, if there is no
// such file.
func Find(names []string) (list []Recording, err error) {
	for _, name := range names {
		files, err := expand(name)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			of := RecordingOf(file)
			i := slices.IndexFunc(list, func(r Recording) bool { return r.Name == of })
			if i < 0 || slices.Contains(list[i].Files, file) { // the same one again: it is compared with itself
				list = append(list, Recording{of, []string{file}})
				continue
			}
			list[i].Files = append(list[i].Files, file)
		}
	}
	for i := range list {
		if len(list[i].Files) == 1 {
			list[i].Name = list[i].Files[0]
		}
	}
	return list, nil
}

// expand is the files that a name stands for.
func expand(name string) ([]string, error) {
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		files, _ := filepath.Glob(filepath.Join(escapeGlob(name), "*.jsonl*"))
		if len(files) == 0 {
			return nil, fmt.Errorf("%s is %w (*.jsonl, *.jsonl.zst): name a file", name, ErrNoRecordings)
		}
		return files, nil
	case err == nil || !strings.ContainsAny(name, "*?["):
		return []string{name}, nil
	}
	files, bad := filepath.Glob(name)
	if len(files) == 0 {
		return nil, cmp.Or(bad, err)
	}
	return files, nil
}

var globMarks = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)

func escapeGlob(name string) string { return globMarks.Replace(name) }
