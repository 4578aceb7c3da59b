package cli

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// What was probably meant is named in one line; where nothing is near, all that there is.
func TestDidYouMean(t *testing.T) {
	for args, want := range map[string]string{
		"rekord":                     "did you mean nvpeak record?",
		"repl":                       "did you mean nvpeak replay?",
		"help rekord":                "did you mean nvpeak record?",
		"frobnicate":                 "the commands are check, ",
		"--thme dark":                "did you mean --theme?",
		"once --webhok x":            "did you mean --webhook? It is an option of the monitor, doctor, export, record, run, stream",
		"once --bogus":               "the flags are --ascii, ",
		"once --demo=leek":           "--demo: there is no scenario \"leek\": did you mean leak?",
		"once --demo leek":           "did you mean --demo=leak?",
		"--demo leek":                "did you mean --demo=leak?",
		"once --theme drak":          "did you mean dark?",
		"once --theme pink":          "dark, light, ",
		"once --csv=memory.usd":      "did you mean memory.used?",
		"once --need":                "--need needs its SIZE",
		"check --gpus two --need 1G": "\"two\" is no whole number",
		"once --json=foo":            "--json takes no value: \"foo\" is neither true nor false",
		"once --ascii=foo":           "--ascii takes no value: \"foo\" is neither true nor false",
		"run --retry-ask=foo -- x":   "--retry-ask takes no value: \"foo\" is neither",
		"completion":                 "completion for which shell? bash, fish, powershell, zsh, such as nvpeak completion bash",
		"completion bahs":            "there is no shell \"bahs\": did you mean bash?",
		"completion bash extra":      "takes no \"extra\"",
		"once extra":                 "takes no \"extra\"",
	} {
		out, errs, code := command(t, strings.Fields(args)...)
		if code != exitUsage || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %q, %q, want %q", args, code, out, errs, want)
		}
	}
}

// A value behind a space is that of a flag that can do without one, but nothing of a command that is run is touched.
func TestJoined(t *testing.T) {
	for args, want := range map[string]string{
		"once --demo leak":                        "once --demo=leak",
		"--demo list":                             "--demo=list",
		"once --demo --csv index,memory.used":     "once --demo --csv=index,memory.used",
		"once --demo -i 0":                        "once --demo -i 0",
		"--demo record":                           "--demo record",
		"run --demo leak -- python":               "run --demo=leak -- python",
		"run --demo leak":                         "run --demo leak",
		"run python x.py --demo leak":             "run python x.py --demo leak",
		"run -- python x.py --demo leak --csv a":  "run -- python x.py --demo leak --csv a",
		"run --record -- x --demo leak -- y":      "run --record -- x --demo leak -- y",
		"run --need 3G --demo leak -- python":     "run --need 3G --demo=leak -- python",
		"run --record q.jsonl -- python":          "run --record=q.jsonl -- python",
		"run -i 0 --record q.jsonl.zst --wait x":  "run -i 0 --record=q.jsonl.zst --wait x",
		"run --need=3G --record q.jsonl python":   "run --need=3G --record=q.jsonl python",
		"run --record ./train.sh -- --lr 3":       "run --record ./train.sh -- --lr 3",
		"run python --record q.jsonl -- x":        "run python --record q.jsonl -- x",
		"run --wait python --record q.jsonl":      "run --wait python --record q.jsonl",
		"--demo run":                              "--demo run",
		"explain -- --demo leak":                  "explain -- --demo leak",
		"stream --demo oom --csv --interval 1s":   "stream --demo=oom --csv --interval 1s",
		"record -o --demo leak --demo=leak --for": "record -o --demo=leak --demo=leak --for",
	} {
		if got := strings.Join(joined(strings.Fields(args)), " "); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"once", "record", "replay", "report", "run", "runs", "wait", "oom"}
	for word, want := range map[string]string{
		"onec": "once", "RECORD": "record", "repotr": "report", "rnu": "run", "rusn": "runs", "rep": "", "rec": "record", "w": "", "": "", "nope": "", "recording": "",
	} {
		if got := nearest(word, names); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

// Help fits its width, names each flag of a command once and none of another.
func TestHelp(t *testing.T) {
	root := silent().root()
	for _, c := range append([]*cobra.Command{root}, root.Commands()...) {
		c.InitDefaultHelpFlag()
		for _, width := range []int{40, 80, 120} {
			var b strings.Builder
			writeHelp(&b, c, width)
			for _, line := range strings.Split(b.String(), "\n") {
				if utf8.RuneCountInString(line) > width && width >= 80 && !strings.HasPrefix(line, "  nvpeak") && !strings.HasPrefix(line, "  python") &&
					!strings.HasPrefix(line, "  CUDA") {
					t.Errorf("%s on %d columns: %q", c.Name(), width, line)
				}
			}
			text, words := b.String(), strings.Fields(b.String())
			for _, name := range flagNames(c) {
				at := slices.IndexFunc(words, func(w string) bool { return w == "--"+name || strings.HasPrefix(w, "--"+name+"[") })
				if at < 0 {
					t.Errorf("%s on %d columns does not name --%s:\n%s", c.Name(), width, name, text)
				}
			}
		}
	}
	out, _, code := command(t, "once", "--help")
	if code != exitFine || strings.Contains(out, "--webhook") || !strings.Contains(out, "\n"+aboutGPUs+":\n") || !strings.Contains(out, "\nOptions of once:\n") {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

// Shells complete values: not only names of flags.
func TestCompleteValues(t *testing.T) {
	t.Chdir("../../testdata")
	for args, want := range map[string][]string{
		"once --theme ":                      {"dark\t", "high-contrast\t"},
		"once --demo=":                       {"leak\t", "sixtyfour\t"},
		"explain --lang ":                    {"en\n", "zh\n"},
		"once --csv=index,":                  {"index,memory.used"},
		"once --demo -i 0,":                  {"0,1\t"},
		"replay tapes/report/le":             {"tapes/report/leak.jsonl"},
		"report tap":                         {"tapes/"},
		"explain --recording tapes/report/l": {"tapes/report/leak.jsonl"},
		"help ":                              {"record\t"},
		"wait --format ":                     {"uuid"},
	} {
		out, errs, _ := command(t, append([]string{"__complete"}, strings.Split(args, " ")...)...)
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("%q: no %q in %q %q", args, w, out, errs)
			}
		}
	}
	if out, _, _ := command(t, "__complete", "once", "--demo", "-i", "0,"); strings.Contains(out, "0,0") {
		t.Errorf("a GPU is offered again: %q", out)
	}
}
