// Package config reads what people have written down for nvpeak: settings and themes, as TOML. It knows how such
// a file is written, and nothing of what the settings mean.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// Kind is what a value is in the file.
type Kind string

// The kinds. A list has no lists in it.
const (
	Text   Kind = "a text"
	Bool   Kind = "true or false"
	Number Kind = "a number"
	List   Kind = "a list"
	Table  Kind = "a table" // its name alone
)

// Entry is one value.
type Entry struct {
	Key  string // with those of its tables, "colors.warning"
	Text string // as a flag is given it: of a list with commas
	Kind Kind
	Line int
}

// maxFile is more than anybody writes by hand.
const maxFile = 1 << 20

// File is the settings file: under XDG_CONFIG_HOME, or the home directory. Empty: there is no place for it.
func File(env func(string) string) string {
	dir := env("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) { // as the specification says
		home := env("HOME")
		if home == "" {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "nvpeak", "config.toml")
}

// ErrNoFile is the reason for a name that is one of a directory or a device.
var ErrNoFile = errors.New("it is no file")

// Read reads a file. Its error names the file, and the line where there is one.
func Read(name string) ([]Entry, error) {
	list, err := ReadTables(name)
	return values(list), err
}

// values are the entries that are no tables.
func values(list []Entry) []Entry {
	return slices.DeleteFunc(list, func(e Entry) bool { return e.Kind == Table })
}

// ReadTables is Read with an entry for each table as well, before those in it: one may be empty.
func ReadTables(name string) ([]Entry, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() { // a FIFO would be waited for
		return nil, fmt.Errorf("%s: %w", name, ErrNoFile)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // only read
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("it is larger than %d bytes", maxFile)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	list, line, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s, line %d: %w", name, line, err)
	}
	return list, nil
}

// Parse reads TOML. What cannot be read makes nothing of it count: line says where it is.
func Parse(data []byte) (list []Entry, line int, err error) {
	list, line, err = parse(data)
	return values(list), line, err
}

func parse(data []byte) (list []Entry, line int, err error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	r := reader{lines: lines{data: data}, seen: map[string]bool{}}
	r.Reset(data)
	table := ""
	for r.NextExpression() {
		e := r.Expression()
		key, at := r.key(e)
		switch e.Kind {
		case unstable.Table:
			table = key + "."
			r.list = append(r.list, Entry{Key: key, Kind: Table, Line: r.line(at)})
		case unstable.KeyValue:
			r.value(table+key, at, e.Value())
		default:
			return nil, r.line(at), errors.New("lists of tables ([[…]]) mean nothing here")
		}
		if r.err != nil {
			return nil, r.line(at), r.err
		}
	}
	if err := r.Error(); err != nil {
		return nil, r.line(r.broken(err)), err
	}
	return r.list, 0, nil
}

// reader makes entries of what the parser finds.
type reader struct {
	unstable.Parser
	lines
	list []Entry
	seen map[string]bool
	err  error
}

// key is the key of an expression, with its dots, and where it stands.
func (r *reader) key(e *unstable.Node) (key string, at int) {
	var parts []string
	for it := e.Key(); it.Next(); {
		if len(parts) == 0 {
			at = int(it.Node().Raw.Offset)
		}
		parts = append(parts, string(it.Node().Data))
	}
	return strings.Join(parts, "."), at
}

// value adds the value of a key; those of a table in braces each with their own key.
func (r *reader) value(key string, at int, v *unstable.Node) {
	if v.Kind == unstable.InlineTable {
		for it := v.Children(); it.Next() && r.err == nil; {
			inner, at := r.key(it.Node())
			r.value(key+"."+inner, at, it.Node().Value())
		}
		return
	}
	if r.seen[key] {
		r.err = fmt.Errorf("%s is set twice", key)
		return
	}
	r.seen[key] = true
	e := Entry{Key: key, Line: r.line(at)}
	if e.Kind, e.Text = scalar(v); v.Kind == unstable.Array {
		e.Kind = List
		var parts []string
		for it := v.Children(); it.Next(); {
			kind, text := scalar(it.Node())
			if kind == "" {
				r.err = fmt.Errorf("%s: a list has texts and numbers only", key)
				return
			}
			parts = append(parts, text)
		}
		e.Text = strings.Join(parts, ",")
	}
	if e.Kind == "" {
		r.err = fmt.Errorf("%s: dates mean nothing here", key)
		return
	}
	r.list = append(r.list, e)
}

// scalar is one value as a text. No kind: it is none that means anything here.
func scalar(v *unstable.Node) (Kind, string) {
	text := string(v.Data)
	switch v.Kind {
	case unstable.String:
		return Text, text
	case unstable.Bool:
		return Bool, text
	case unstable.Integer:
		if n, err := strconv.ParseInt(text, 0, 64); err == nil { // of any base, with _ or without
			text = strconv.FormatInt(n, 10)
		}
		return Number, text
	case unstable.Float:
		return Number, strings.ReplaceAll(text, "_", "")
	}
	return "", ""
}

// lines tells lines by their offsets.
type lines struct{ data []byte }

func (l lines) line(at int) int { return 1 + bytes.Count(l.data[:min(at, len(l.data))], []byte("\n")) }

// broken is where the parser stopped.
func (r *reader) broken(err error) int {
	var at *unstable.ParserError
	if errors.As(err, &at) {
		return max(0, cap(r.data)-cap(at.Highlight)) // Range would panic over one that is not of the file
	}
	return len(r.data)
}
