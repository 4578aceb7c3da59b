package needed

import (
	"regexp"
	"slices"
	"testing"
)

func TestSplit(t *testing.T) {
	for source, want := range map[string][]string{
		`one`:                        {`one`},
		`one|two`:                    {`one`, `two`},
		`(?i)one|(?:two|three)|x`:    {`(?i)one`, `(?i)(?:two|three)`, `(?i)x`},
		`(?is)a\|b|c\\|d`:            {`(?is)a\|b`, `(?is)c\\`, `(?is)d`},
		`[|]a|[]|]b|[^]|]c|[\]|]d|e`: {`[|]a`, `[]|]b`, `[^]|]c`, `[\]|]d`, `e`},
		`[[:alpha:]|]|[^[:space:]|]`: {`[[:alpha:]|]`, `[^[:space:]|]`},
		`a|(?i)b|c`:                  {`a|(?i)b|c`},
		`(?i:a|b)|c`:                 {`(?i:a|b)`, `c`},
		`((?i)a|b)|c`:                {`((?i)a|b)`, `c`},
		`\Qa|b\E|c`:                  {`\Qa|b\E|c`},
		`|a`:                         {``, `a`},
		``:                           {``},
	} {
		if got := Split(source); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", source, got, want)
		}
	}
}

// An alternative matches if the pattern does, and else none.
func FuzzSplit(f *testing.F) {
	for _, source := range []string{`(?i)one|tw[o|]|\bx`, `a|(?s).b|c`, `[^]|a]|\p{Han}{2}`, `(?m)^a$|(b|c)+`, `\Qa|\E|b`, `[a-\]|]|b`, `[[:word:]|[:^space:]]`, `[[|]`} {
		f.Add(source, "One two | b\nx")
	}
	f.Fuzz(func(t *testing.T, source, text string) {
		whole, err := regexp.Compile(source)
		if err != nil || len(source) > 200 || len(text) > 200 {
			return
		}
		if any := slices.ContainsFunc(Split(source), func(one string) bool {
			re, err := regexp.Compile(one)
			if err != nil {
				t.Fatalf("%q is no alternative of %q: %v", one, source, err)
			}
			return re.MatchString(text)
		}); any != whole.MatchString(text) {
			t.Errorf("%q in %q: %v", source, text, !any)
		}
	})
}
