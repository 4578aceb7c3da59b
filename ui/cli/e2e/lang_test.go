package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler/nvml/nvmltest"
)

// pseudo is the program with a third language, made as a translator makes one: one file, and
// one line in languages.go. Every letter of its sentences has an accent, so that a plain
// word on a screen is one that no catalog knows.
func pseudo(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the program anew")
	}
	lang, err := filepath.Abs("../../../advice/lang")
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(lang, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	dir := t.TempDir()
	table := regexp.MustCompile(`": +"(?:[^"\\]|\\.)*"`).ReplaceAllStringFunc(read("en.go"), accented)
	overlay := map[string]string{}
	for name, text := range map[string]string{
		"xx.go":        strings.ReplaceAll(table, "textsEN", "textsXX"),
		"languages.go": strings.Replace(read("languages.go"), `{"zh", textsZH},`, "{\"zh\", textsZH},\n\t{\"xx\", textsXX},", 1),
	} {
		overlay[filepath.Join(lang, name)] = filepath.Join(dir, name)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, _ := json.Marshal(map[string]any{"Replace": overlay}) //nolint:errcheck // texts only
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), list, 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "nvpeak")
	if out, err := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program, "nvpeak").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return program
}

// accents are one column wide, as the letters are.
var accents = strings.NewReplacer("a", "á", "b", "ƀ", "c", "ć", "d", "đ", "e", "é", "f", "ƒ", "g", "ğ", "h", "ĥ", "i", "í", "j", "ĵ", "k", "ķ", "l", "ł", "m", "ḿ",
	"n", "ń", "o", "ó", "p", "ṕ", "q", "ʠ", "r", "ŕ", "s", "ś", "t", "ţ", "u", "ú", "v", "ṽ", "w", "ŵ", "x", "ẋ", "y", "ý", "z", "ź",
	"A", "Á", "B", "Ɓ", "C", "Ć", "D", "Đ", "E", "É", "F", "Ƒ", "G", "Ğ", "H", "Ĥ", "I", "Í", "J", "Ĵ", "K", "Ķ", "L", "Ł", "M", "Ḿ",
	"N", "Ń", "O", "Ó", "P", "Ṕ", "Q", "Ɋ", "R", "Ŕ", "S", "Ś", "T", "Ţ", "U", "Ú", "V", "Ṽ", "W", "Ŵ", "X", "Ẋ", "Y", "Ý", "Z", "Ź")

var kept = regexp.MustCompile(`\{[a-z_]+\}|\\.`)

// accented is a sentence of the table in the pseudo-language: its placeholders stay.
func accented(sentence string) string {
	colon := strings.Index(sentence[2:], `"`) + 3
	head, text := sentence[:colon], sentence[colon:]
	var b strings.Builder
	from := 0
	for _, at := range kept.FindAllStringIndex(text, -1) {
		b.WriteString(accents.Replace(text[from:at[0]]) + text[at[0]:at[1]])
		from = at[1]
	}
	return head + b.String() + accents.Replace(text[from:])
}

// plainWord is what no sentence of the pseudo-language holds.
var plainWord = regexp.MustCompile(`[A-Za-z][A-Za-z'-]{2,}`)

// names are words that are none of a language: proper names, units, column heads, and what
// the recordings and logs of this test hold.
var names = regexp.MustCompile(`^(GiB|MiB|KiB|GPU|GPUs|PID|USER|TYPE|MEM|PEAK|SHARE|HISTORY|CPU|HOST|TIME|COMMAND|NAME|TEMP|POWER|UTIL|USED|FREE|TOTAL|CONTAINER|` +
	`MHz|PCIe|CUDA|DEMO|REPLAY|nvpeak|NVIDIA|RTX|Ada|Generation|training|validation|jsonl|box\d*|ann|bob|Enter|Tab|Esc|Ctrl-[LZ]|Home|End|Shift|dark|light|UTC|` +
	`MEAN|MEMORY|WORST|Leon|Sorokin|MIT|license|pytorch|compute|leak|driver|Tesla|smi|csv|hosts?|json|Space)$`)

// foreign are stretches that come from outside: commands, paths, addresses, code.
var foreign = regexp.MustCompile(`(?m)https?://\S+|/\S+|(python|torchrun|nvidia-smi|export|pip|sudo|DataLoader|with torch|print|outputs|total_loss|model\.eval)\b.*$|-m .*$|│_?(batch|launch)\S*.*$|\b[A-Z_]+=\S+|--\S+`)

// checkWords fails on every plain word in a text.
func checkWords(t *testing.T, what, text string) {
	t.Helper()
	if !strings.ContainsAny(text, "áéíóú") {
		t.Errorf("%s: nothing is in the pseudo-language:\n%s", what, text)
	}
	for _, line := range strings.Split(foreign.ReplaceAllString(text, ""), "\n") {
		for _, w := range plainWord.FindAllString(line, -1) {
			if !names.MatchString(w) {
				t.Errorf("%s: %q is in no catalog: %s", what, w, line)
			}
		}
	}
}

// A third language is one file and one line: with it every front end speaks it.
func TestThirdLanguage(t *testing.T) {
	program := pseudo(t)
	t.Run("text", func(t *testing.T) { texts(t, program) })
	t.Run("doctor", func(t *testing.T) { doctors(t, program) })
	t.Run("monitor", func(t *testing.T) {
		walk(t, setup{program: program, args: []string{"--demo"}, size: [2]int{120, 60}}, []step{
			{"screen", "", "ŕéśéţ"}, {"help", "?", "ḿóṽé"}, {"need", "\x1bn", "ńéẋţ"}, {"advice", "\x1ba", "Śéţ"}, {"process", "\x1b\r", "ƀáćķ"}, {"notice", "\x1bw", "ĥéáđŕóóḿ"}})
	})
	t.Run("replay", func(t *testing.T) {
		walk(t, setup{program: program, args: []string{"replay", "../../../testdata/tapes/report/leak.jsonl"}, size: [2]int{120, 50}}, []step{
			{"start", "", "śṕééđ"}, {"paused", "p", "ṔÁÚŚÉĐ"}, {"help of the replay", "?", "ḿóṽé"}, {"go to a time", "\x1b:", "ğó ţó"}, {"next mark", "\x1bN", "śṕééđ"}, {"advice of an alert", "a", "áđṽíćé"}})
	})
}

func texts(t *testing.T, program string) {
	tapes := "../../../testdata/tapes/report/"
	say := func(args ...string) string {
		return run(t, setup{program: program, args: append(args, "--lang", "xx"), env: []string{"TZ=UTC"}}).out
	}
	for what, args := range map[string][]string{
		"quiet report": {"report", tapes + "smi.csv"},
		"leak":         {"report", tapes + "leak.jsonl"},
		"compare":      {"report", "--compare", tapes + "validation.jsonl", tapes + "smi.csv"},
		"table":        {"once", "--demo"},
		"explanation":  {"explain", tapes + "validation.log"},
	} {
		checkWords(t, what, say(args...))
	}
	page := say("report", tapes+"leak.jsonl", "--html", "-")
	page = regexp.MustCompile(`(?s)<script.*?</script>|<style.*?</style>|<pre>.*?</pre>|data-words=".*?"|<[^>]*>|&#?\w+;`).ReplaceAllString(page, " ")
	checkWords(t, "page", page)
	for _, size := range [][2]int{{60, 12}, {80, 24}, {120, 40}, {200, 60}} {
		checkWords(t, fmt.Sprintf("screen of %dx%d", size[0], size[1]), say("once", "--demo", "--size", fmt.Sprintf("%dx%d", size[0], size[1])))
	}
}

// quoted is what doctor quotes: commands, what the driver and the system said, names of
// functions, products and variables.
var quoted = regexp.MustCompile(`(?m)^ *→.*$|\(lib[^)]*\)|\(nvml[^)]*\)|nvml\w+|NVPEAK_\w+|\(?TERM=\w+\)?|nvpeak doctor|NVML|MIG|WSL|Docker|Windows|MPS|pid\b|median|p99|xterm-256color|GeForce|HBM3`)

// doctors runs doctor without a driver, and with drivers that lack one thing or another.
func doctors(t *testing.T, program string) {
	for _, s := range []setup{
		{}, {scenario: "h100x8"}, {scenario: "h100x8", driver: nvmltest.R418}, {scenario: "accounting"}, {scenario: "mig"}, {scenario: "lost"}, {scenario: "unified"},
		{scenario: "notloaded"}, {scenario: "mismatch"}, {scenario: "nogpu"}, {scenario: "nopermission"}, {scenario: "hidden"},
	} {
		t.Run(s.scenario, func(t *testing.T) {
			t.Parallel() // each measures for a second
			s.program, s.args = program, []string{"doctor", "--lang", "xx"}
			checkWords(t, "doctor", quoted.ReplaceAllString(run(t, s).out, ""))
		})
	}
}

// beside is the end of a command line that a text over the screen leaves to be seen.
var beside = regexp.MustCompile(`(?m)│[^│\n]{1,30}…│ *$`)

// step is one thing done at the keyboard, and what is then on the screen.
type step struct{ what, keys, wait string }

func walk(t *testing.T, s setup, steps []step) {
	s.args = append(s.args, "--lang", "xx")
	terminal := open(t, s)
	for _, step := range steps {
		for _, k := range strings.SplitAfter(step.keys, "\x1b") { // an escape and a letter at once are another key
			if err := terminal.Type(k); err != nil {
				t.Fatal(err)
			}
			time.Sleep(300 * time.Millisecond)
		}
		if err := terminal.WaitText(step.wait, patience); err != nil {
			t.Fatalf("%s: %v\n%s", step.what, err, terminal.Screen())
		}
		checkWords(t, step.what, beside.ReplaceAllString(terminal.Screen(), ""))
	}
}
