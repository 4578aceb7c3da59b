package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"nvpeak/theme"
)

func TestParse(t *testing.T) {
	text := "\ufeff# mine\ntheme = \"dark\"\nascii = true\ngpu = [0, \"GPU-1\"]\nneed = 0x10\n\n[colors]\nwarning = { color = '#f0ab45', bold = true }\nplot.dim = false\n"
	want := []Entry{
		{"theme", "dark", Text, 2}, {"ascii", "true", Bool, 3}, {"gpu", "0,GPU-1", List, 4}, {"need", "16", Number, 5},
		{"colors.warning.color", "#f0ab45", Text, 8}, {"colors.warning.bold", "true", Bool, 8}, {"colors.plot.dim", "false", Bool, 9},
	}
	got, _, err := Parse([]byte(text))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\n%v\n%v", err, got, want)
	}
}

// What cannot be read says where.
func TestParseMistakes(t *testing.T) {
	for text, line := range map[string]int{
		"a = 1\nb = [": 2, "a = 1\n\nb 2\n": 3, "a = 1\na = 2": 2, "[[t]]\na = 1": 1, "a = 2026-11-23": 1, "a = [[1]]": 1, "a = \"x\nb": 1, "a = \x00": 1, "\n\n=": 3, "a = [1, {b = 2}]": 1,
	} {
		list, at, err := Parse([]byte(text))
		if err == nil || at != line || list != nil {
			t.Errorf("%q: line %d, %v, %v, want line %d", text, at, list, err, line)
		}
	}
}

func TestReadTables(t *testing.T) {
	name := write(t, "a = 1\n[b]\n\n[c.d]\ne = 2\n")
	want := []Entry{{"a", "1", Number, 1}, {"b", "", Table, 2}, {"c.d", "", Table, 4}, {"c.d.e", "2", Number, 5}}
	if got, err := ReadTables(name); err != nil || !reflect.DeepEqual(got, want) {
		t.Error(err, got)
	}
	if got, err := Read(name); err != nil || !reflect.DeepEqual(got, []Entry{want[0], want[3]}) {
		t.Error(err, got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("a = 1\n[b]\nc = { d = \"e\" }\n"))
	f.Add([]byte("a = [1, 2"))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, line, err := Parse(data)
		if err != nil && (line < 1 || line > 1+strings.Count(string(data), "\n")) {
			t.Errorf("line %d: %v", line, err)
		}
		for _, e := range list {
			if e.Kind == "" || e.Line < 1 {
				t.Errorf("%+v", e)
			}
		}
	})
}

func TestFile(t *testing.T) {
	for _, row := range []struct{ xdg, home, want string }{
		{"/x", "/h", "/x/nvpeak/config.toml"}, {"", "/h", "/h/.config/nvpeak/config.toml"}, {"relative", "/h", "/h/.config/nvpeak/config.toml"}, {"", "", ""},
	} {
		if got := File(func(name string) string { return map[string]string{"XDG_CONFIG_HOME": row.xdg, "HOME": row.home}[name] }); got != row.want {
			t.Errorf("%+v: %s", row, got)
		}
	}
}

func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "mine.toml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestTheme(t *testing.T) {
	th, notes, err := Theme(write(t, "title = \"for me\"\nbase = \"light\"\n[colors]\ncritical = \"#ff0000\"\nok.bold = true\nwarning = { color = \"#00ff00\", ansi256 = 20, ansi = \"blue\" }\n[backgrounds]\nselected.color = \"#101010\"\n"), "mine")
	if err != nil || len(notes) > 0 {
		t.Fatal(err, notes)
	}
	light, _ := theme.Named("light")
	if th.Name != "mine" || th.Title != "for me" || th.Roles[theme.Dim] != light.Roles[theme.Dim] || th.Roles[theme.Critical].Color != "#ff0000" ||
		th.Roles[theme.Critical].ANSI256 != 196 || !th.Roles[theme.Ok].Bold || th.Roles[theme.Warning].ANSI256 != 20 || th.Roles[theme.Warning].ANSI != theme.Blue ||
		th.Backs[theme.Selected].Color != "#101010" {
		t.Errorf("%+v", th)
	}
}

// Without a base the roles that have no color are named, once; a base that is not there says it already.
func TestThemeWithoutBase(t *testing.T) {
	for file, want := range map[string]string{"[colors]\nok = \"#00ff00\"\n": "no color for text, dim,", "base = \"pink\"\n[colors]\nok = \"#00ff00\"\n": "dark is taken"} {
		th, notes, err := Theme(write(t, file), "mine")
		if err != nil || len(notes) != 1 || !strings.Contains(notes[0], want) || th.Roles[theme.Ok].Color != "#00ff00" || strings.Contains(notes[0], " ok,") {
			t.Errorf("%q: %v %q", file, err, notes)
		}
	}
}

// Each mistake is one line with its place, and the default color stands there.
func TestThemeMistakes(t *testing.T) {
	name := write(t, "base = \"pink\"\n[colors]\nok = \"green\"\nwarning.ansi = \"pink\"\nwarning.ansi256 = 3\nwarning.bold = 1\nwarning.size = 1\npurple = \"#123456\"\n[other]\nx = 1\n")
	th, notes, err := Theme(name, "mine")
	if err != nil {
		t.Fatal(err)
	}
	dark, _ := theme.Named("dark")
	if th.Roles != dark.Roles {
		t.Errorf("%+v", th.Roles)
	}
	for i, want := range []string{"line 1: base: there is no theme \"pink\": dark, light, high-contrast, color-blind, mono; dark is taken", "line 3: colors.ok: \"green\" is no color", "line 4: ", "line 5: ", "line 6: ", "line 7: ", "line 8: colors.purple", "line 10: other.x"} {
		if i >= len(notes) || !strings.Contains(notes[i], want) || !strings.HasPrefix(notes[i], name) || strings.Contains(notes[i], "\n") {
			t.Fatalf("%d, want %q: %q", i, want, notes)
		}
	}
	if len(notes) != 8 {
		t.Errorf("%q", notes[8:])
	}
}

func TestThemeFile(t *testing.T) {
	for name, want := range map[string]string{"mine": "/x/themes/mine.toml", "../mine": "", ".x": "", "": "", "a/b": ""} {
		if got := ThemeFile("/x/config.toml", name); got != want {
			t.Errorf("%q: %q", name, got)
		}
	}
}
