package command

import (
	"slices"
	"testing"
)

// What a program is started with comes back word by word, whatever a shell would make of it; a line that a shell has
// something to do with has no such words.
func TestArgv(t *testing.T) {
	for _, args := range [][]string{{"python", "t.py"}, {"python", "a b", "$x", "x;y", "'", `"`, ""}, {"for", "x"}, {"time", "python"}, {"A=1", "x"}, {"a b"}, {"time"}} {
		if got, ok := OfArgs(args).Argv(); !ok || !slices.Equal(got, args) {
			t.Errorf("%q became %q, %v", args, got, ok)
		}
	}
	for _, text := range []string{"python $x", "python t.py > log", "a; b", "a && b", "python 'oops", "(a)", "a &"} {
		if got, ok := Parse(text).Argv(); ok {
			t.Errorf("%s is only %q", text, got)
		}
	}
}

// An option belongs to the program where it stands behind the script.
func TestOfProgram(t *testing.T) {
	for text, want := range map[string]bool{"python t.py -b 8": true, "python -b 8 t.py": false, "python -m pkg -b 8": true, "python -b 8 -m pkg": false, "train -b 8": true,
		"t.py -b 8": true, "sh t.sh -b 8": true, "A=1 python t.py -b 8": true, "A=1 python -b 8 t.py": false,
		"env B=8 python t.py": true, "env A=1 B=8 python t.py": true, "/usr/bin/env B=8 python t.py": true, "python B=8 t.py": false, "env -u A B=8 python t.py": false} {
		c := Parse(text)
		if a, found := c.Find("b"); !found || c.OfProgram(a) != want {
			t.Errorf("%s: the program's %v, found %v", text, !want, found)
		}
	}
}

// A batch of two has a half, one of one has none, and nothing else changes.
func TestHalfBatch(t *testing.T) {
	for text, want := range map[string]string{"python t.py --batch-size 2 --gradient-accumulation-steps auto": "python t.py --batch-size 1 --gradient-accumulation-steps auto",
		"python t.py --batch-size 7": "python t.py --batch-size 3", "python t.py --batch-size 1": "", "python t.py": "", "python t.py --batch-size x": "", "python t.py --batch-size 0": ""} {
		if s, ok := Parse(text).HalfBatch(); ok != (want != "") || s.Text != want {
			t.Errorf("%s: %q, %v", text, s.Text, ok)
		}
	}
}
