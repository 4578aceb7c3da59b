package needed

import (
	"fmt"
	"reflect"
	"regexp/syntax"
	"strings"
	"testing"
)

func parse(t *testing.T, source string) *syntax.Regexp {
	t.Helper()
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func TestNeeded(t *testing.T) {
	for pattern, want := range map[string][][]OneOf{
		`Tried\s*to\s*allocate\s*(x)`: {{{"triedtoallocatex"}}},
		`total\s*capac(?:i)?ty`:       {{{"totalcapacty", "totalcapacity"}}},
		`(?:a|b)foo|bar`:              {{{"afoo", "bfoo"}}, {{"bar"}}},
		`\(GPU\s*(\d+)`:               {{{"(gpu"}}},
		`files?\s*x`:                  {{{"filex", "filesx"}}},
		`[abc]+def{2}ghi`:             {{{"ghi"}, {"de"}}},
		`with\s*(\d+)\s*allocated\s*in\s*private\s*pools`: {{{"allocatedinprivatepools"}, {"with"}}},
		`(?:foo|\d)x`:                  {{{"foox", "0x"}}}, // every digit is squeezed to 0
		`(?:foo|\w)x`:                  nil,
		`(?:ab cd)+e`:                  {{{"abcd"}}},
		`(?i)K[^x]\bS é o[^x]ok`:       {{{"ok"}}},
		`^(?:ab)*cd(?:ef){0}`:          {{{"cd"}}},
		`(?i)\bHIP\s*out\s*of|(\d+)b!`: {{{"hipoutof"}}, {{"b!"}}},
		`["']\s*in\s+(?:str|e\b|err)`:  {{{`"instr`, `"ine`, `'instr`, `'ine`}}},
		`[a-z]?foo[xy]?`:               {{{"foo"}}},
	} {
		if got := Of(parse(t, pattern), false); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
}

// Twelve ways are told apart where words follow them, and a demand has its shortest word for its strength.
func TestNeededAtItsBounds(t *testing.T) {
	const twelve = "ab|cd|ef|gh|ij|kl|mn|op|qr|st|uv|wx"
	for source, want := range map[string]string{"(?:" + twelve + ")(?:12)": "12", "(?:" + twelve + "|yz)(?:12)": "13 1"} {
		lists := Of(parse(t, source), false)
		if len(lists) != 1 {
			t.Fatalf("%s: %q", source, lists)
		}
		var sizes []string
		for _, words := range lists[0] {
			sizes = append(sizes, fmt.Sprint(len(words)))
		}
		if got := strings.Join(sizes, " "); got != want {
			t.Errorf("%s: %s words (%q), want %s", source, got, lists, want)
		}
	}
	for _, row := range []struct {
		words OneOf
		want  int
	}{{nil, 0}, {OneOf{"abc", "de"}, 2}, {OneOf{"de", "abc"}, 2}, {OneOf{"a", "abc"}, 0}, {OneOf{"("}, 1}, {OneOf{""}, 0}} {
		if got := row.words.strength(); got != row.want {
			t.Errorf("%q: %d", row.words, got)
		}
	}
}
