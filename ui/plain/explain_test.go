package plain

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"nvpeak/advice/explain"
	"nvpeak/advice/lang"
)

var updateExplain = flag.Bool("update-explain", false, "rewrite testdata/explain/*/want.txt")

const explainCases = "../../testdata/explain"

// readIncident reads a case and refuses keys that are misspelt.
func readIncident(t *testing.T, dir string) explain.Incident {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "event.json"))
	if err != nil {
		t.Fatal(err)
	}
	var in explain.Incident
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		t.Fatal(err)
	}
	return in
}

func explainDirs(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob(explainCases + "/*")
	if err != nil || len(dirs) < 20 {
		t.Fatalf("%d cases in %s: %v", len(dirs), explainCases, err)
	}
	return dirs
}

// Every case is a directory: what is known goes in, want.txt must come out.
func TestExplainCases(t *testing.T) {
	for _, dir := range explainDirs(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			var got bytes.Buffer
			if err := Explain(&got, explain.Explain(readIncident(t, dir)), Options{Width: 80}); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, "want.txt")
			if *updateExplain {
				if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("got\n%s\nwant\n%s", got.Bytes(), want)
			}
		})
	}
}

// At every width, in both languages, with and without line characters: no line is wider unless
// it is a command, nothing unprintable gets out, no placeholder is left open.
func TestExplainFitsEveryWidth(t *testing.T) {
	for _, dir := range explainDirs(t) {
		in := readIncident(t, dir)
		for _, lang := range lang.Names() {
			in.Lang = lang
			e := explain.Explain(in)
			typed := typedLines(e)
			for width := 40; width <= 120; width += 4 {
				for _, ascii := range []bool{false, true} {
					var out bytes.Buffer
					if err := Explain(&out, e, Options{Width: width, ASCII: ascii}); err != nil {
						t.Fatal(err)
					}
					mayBeLong := typed
					if ascii {
						mayBeLong = ASCII(typed)
					}
					checkLines(t, filepath.Base(dir), lang, width, ascii, out.String(), mayBeLong)
				}
			}
		}
	}
}

// typedLines are the pieces of advice that are to be copied, and the sources: they keep their length.
func typedLines(e explain.Explanation) string {
	var all strings.Builder
	for _, a := range e.Advice {
		all.WriteString(strings.Join(a.Do, "\n") + "\n" + a.Source + "\n")
	}
	return strings.ReplaceAll(strings.ReplaceAll(all.String(), "\x1b", "?"), "\u202e", "?")
}

func checkLines(t *testing.T, name, lang string, width int, ascii bool, out, typed string) {
	t.Helper()
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if columns(line) > width && !strings.Contains(typed, strings.TrimSpace(line)) {
			t.Errorf("%s %s at %d: %d columns: %q", name, lang, width, columns(line), line)
		}
		for _, r := range line {
			if !unicode.IsPrint(r) {
				t.Errorf("%s %s: unprintable %U in %q", name, lang, r, line)
			}
			if ascii && (lang == "en" && r > '~' && !unicode.IsLetter(r) && !unicode.IsMark(r) || r >= 0x2500 && r < 0x2600) {
				t.Errorf("%s: %q in an ASCII page", name, r)
			}
		}
		if i := strings.IndexByte(line, '{'); i >= 0 && strings.IndexByte(line[i:], '}') > 1 && !strings.Contains(typed, line[i:]) {
			t.Errorf("%s %s: a placeholder is open: %q", name, lang, line)
		}
	}
}

// Without color nothing but text is written; with color the text is the same.
func TestExplainColour(t *testing.T) {
	for _, dir := range explainDirs(t) {
		e := explain.Explain(readIncident(t, dir))
		var plain, color bytes.Buffer
		if Explain(&plain, e, Options{Width: 80}) != nil || Explain(&color, e, Options{Width: 80, Color: true}) != nil {
			t.Fatal("write failed")
		}
		if strings.Contains(plain.String(), "\x1b") {
			t.Errorf("%s: escape codes without color", dir)
		}
		if !strings.Contains(color.String(), "\x1b[") {
			t.Errorf("%s: no color", dir)
		}
		if got := stripPaint(color.String()); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(plain.String()), " ") {
			t.Errorf("%s: color changes the text", dir)
		}
	}
}

// The first screen is short: a newcomer reads at most 20 lines before the details begin.
func TestExplainFirstScreen(t *testing.T) {
	for _, dir := range explainDirs(t) {
		var out bytes.Buffer
		if err := Explain(&out, explain.Explain(readIncident(t, dir)), Options{Width: 80}); err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(out.String(), "── ")
		if n := strings.Count(head, "\n"); n > 20 {
			t.Errorf("%s: %d lines before the details:\n%s", dir, n, head)
		}
	}
}
