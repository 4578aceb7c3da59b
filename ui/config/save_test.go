package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A saved setting is the only thing that changes in the file.
func TestSave(t *testing.T) {
	for _, row := range []struct {
		name, before string
		set          Value
		want         string
	}{
		{"new", "", Value{"theme", "light", Text}, "theme = 'light'\n"},
		{"beside", "# mine\nneed = \"2GiB\" # much\n", Value{"theme", "light", Text}, "# mine\nneed = \"2GiB\" # much\ntheme = 'light'\n"},
		{"no last newline", "need = 3", Value{"ascii", "true", Bool}, "need = 3\nascii = true\n"},
		{"before tables", "need = 3\n\n[colors]\nok = 1\n", Value{"theme", "x", Text}, "need = 3\n\ntheme = 'x'\n[colors]\nok = 1\n"},
		{"again", "a = 1\ntheme = \"dark\" # why\nb = 2\n", Value{"theme", "it's", Text}, "a = 1\ntheme = \"it's\" # why\nb = 2\n"},
		{"a sign in the text", "theme = \"#a\"  # it's \"#\"\n", Value{"theme", "b#c", Text}, "theme = 'b#c'  # it's \"#\"\n"},
		{"a list of lines", "gpu-levels = [\n  70, # low\n  80,\n  90,\n]\nb = 2\n", Value{"gpu-levels", "60,70,80", Text}, "gpu-levels = '60,70,80'\nb = 2\n"},
		{"a text of lines", "need = \"\"\"\n[x]\n3\"\"\"\nb = 2\n", Value{"need", "4GiB", Text}, "need = '4GiB'\nb = 2\n"},
		{"out", "a = 1\nneed = \"2GiB\"\nb = 2\n", Value{"need", "", Text}, "a = 1\nb = 2\n"},
		{"out of nothing", "a = 1\n", Value{"need", "", Text}, "a = 1\n"},
		{"quoted", "\"theme\" = 'x'\n", Value{"theme", "y", Text}, "theme = 'y'\n"},
	} {
		name := filepath.Join(t.TempDir(), "deep", "config.toml")
		if row.before != "" {
			if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(row.before), 0o640); err != nil {
				t.Fatal(err)
			}
		}
		if err := Save(name, []Value{row.set}); err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		got, err := os.ReadFile(name)
		if err != nil || string(got) != row.want {
			t.Errorf("%s: %v\n%s", row.name, err, got)
		}
		mode := os.FileMode(0o600)
		if row.before != "" {
			mode = 0o640
		}
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", row.name, info.Mode(), err)
		}
		if list, _ := os.ReadDir(filepath.Dir(name)); len(list) != 1 {
			t.Errorf("%s: left %v", row.name, list)
		}
	}
}

// What cannot be saved leaves the file as it was.
func TestSaveKeeps(t *testing.T) {
	for _, before := range []string{"broken = [\n", "theme = { a = 1 }\n", "a = 1; theme = 2\n"} {
		name := write(t, before)
		err := Save(name, []Value{{"need", "3", Text}, {"theme", "x", Text}})
		if got, _ := os.ReadFile(name); string(got) != before && err != nil {
			t.Errorf("%q became %q: %v", before, got, err)
		}
		if err == nil && before != "theme = { a = 1 }\n" {
			t.Errorf("%q: no error", before)
		}
	}
	dir := t.TempDir()
	if err := Save(dir, []Value{{"theme", "x", Text}}); err == nil {
		t.Error("a directory was taken for a file")
	}
}

// A settings file that is a link stays one.
func TestSaveThroughLink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.toml"), filepath.Join(dir, "config.toml")
	if err := os.WriteFile(real, []byte("a = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	if err := Save(link, []Value{{"theme", "x", Text}}); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(real); !strings.Contains(string(got), "theme") {
		t.Errorf("%s", got)
	}
	if info, _ := os.Lstat(link); info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
}

// Whatever stands in a file, saving changes the one setting, or nothing.
func FuzzSave(f *testing.F) {
	f.Add([]byte("a = 1\n[b]\nc = { d = \"e\" }\n"), "light")
	f.Add([]byte("theme = '''\nx'''\n"), "\"\n")
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		v := Value{"theme", text, Text}
		got, err := put(data, v)
		if err != nil {
			return
		}
		after, _, err := Parse(got)
		if err != nil {
			t.Fatalf("%q: %v", got, err)
		}
		before, _, _ := Parse(data)
		for _, e := range after {
			if e.Key == "theme" && e.Text != text {
				t.Errorf("%q: %q", got, e.Text)
			}
		}
		if n := len(after) - len(before); n < -1 || n > 1 {
			t.Errorf("%d entries more in %q", n, got)
		}
	})
}
