package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Value is a setting to be saved, as a flag is given it.
type Value struct {
	Key  string
	Text string // empty: the setting is taken out of the file
	Kind Kind   // Text, Bool or Number
}

// Save puts settings into a file and keeps the rest of it: comments, order, other settings. The file is replaced at once
// or not at all; one that does not exist is made, with its directories, for its owner alone. A link stays one.
func Save(name string, values []Value) error {
	old, err := os.ReadFile(name)
	mode := fs.FileMode(0o600)
	switch info, statErr := os.Stat(name); {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
	case err != nil:
		return err
	case statErr == nil:
		mode = info.Mode().Perm()
		if name, err = filepath.EvalSymlinks(name); err != nil {
			return err
		}
	}
	text := old
	for _, v := range values {
		if text, err = put(text, v); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if bytes.Equal(text, old) {
		return nil
	}
	return replace(name, text, mode)
}

// replace writes a file beside another and puts it in its place.
func replace(name string, text []byte, mode fs.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".nvpeak-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name()) //nolint:errcheck // it failed before
		}
	}()
	_, err = f.Write(text)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// put sets a value in the text of a file. What comes of it is read, so that nothing else of it changes.
func put(text []byte, v Value) ([]byte, error) {
	before, line, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("line %d: %w", line, err)
	}
	at := slices.IndexFunc(before, func(e Entry) bool { return e.Key == v.Key })
	wanted := slices.DeleteFunc(slices.Clone(before), func(e Entry) bool { return e.Key == v.Key })
	var set []string
	if v.Text != "" {
		written, err := v.line()
		if err != nil {
			return nil, err
		}
		set = []string{written}
	}
	lines := strings.SplitAfter(string(text), "\n")
	from, most := firstTable(lines), 0 // where a new one stands, and of how many lines an old one may be
	if at >= 0 {
		from, most = before[at].Line-1, len(lines)
	} else if set == nil {
		return text, nil
	} else if from > 0 && !strings.HasSuffix(lines[from-1], "\n") {
		set[0] = "\n" + set[0]
	}
	for n := min(1, most); n <= most && from+n <= len(lines); n++ {
		with := set
		if n == 1 && set != nil {
			with = []string{strings.TrimSuffix(set[0], "\n") + commentOf(lines[from], before[at]) + "\n"}
		}
		now := strings.Join(slices.Concat(lines[:from], with, lines[from+n:]), "")
		if after, _, err := Parse([]byte(now)); err == nil && sameBut(after, wanted, v) {
			return []byte(now), nil
		}
	}
	return nil, fmt.Errorf("%s cannot be set without a change of something else: edit the file", v.Key)
}

// commentOf is the comment behind a setting of one line, with the blanks before it.
func commentOf(line string, e Entry) string {
	line = strings.TrimRight(line, "\r\n")
	for i := range line {
		if line[i] != '#' {
			continue
		}
		if list, _, err := Parse([]byte(line[:i])); err == nil && len(list) == 1 && list[0].Key == e.Key && list[0].Text == e.Text {
			return line[len(strings.TrimRight(line[:i], " \t")):]
		}
	}
	return ""
}

// line is the setting as a line of the file.
func (v Value) line() (string, error) {
	value := v.Text
	if v.Kind == Text {
		quoted, err := toml.Marshal(map[string]string{"x": v.Text})
		if err != nil {
			return "", err
		}
		value = strings.TrimSpace(strings.TrimPrefix(string(quoted), "x ="))
	}
	return v.Key + " = " + value + "\n", nil
}

// firstTable is the line that the first table begins with, or the end: settings are in none.
func firstTable(lines []string) int {
	for i, l := range lines {
		if strings.HasPrefix(strings.TrimSpace(l), "[") {
			return i
		}
	}
	if n := len(lines); lines[n-1] == "" {
		return n - 1
	}
	return len(lines)
}

// sameBut says whether these are the wanted entries and the value.
func sameBut(list, wanted []Entry, v Value) bool {
	rest := slices.Clone(list)
	i := slices.IndexFunc(rest, func(e Entry) bool { return e.Key == v.Key })
	if i >= 0 {
		if v.Text == "" || rest[i].Text != v.Text || rest[i].Kind != v.Kind {
			return false
		}
		rest = slices.Delete(rest, i, i+1)
	}
	return (i >= 0) == (v.Text != "") && slices.EqualFunc(rest, wanted, func(a, b Entry) bool {
		return a.Key == b.Key && a.Text == b.Text && a.Kind == b.Kind
	})
}
