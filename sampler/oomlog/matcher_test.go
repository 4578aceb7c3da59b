package oomlog

import (
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"nvpeak/sampler/needed"
)

// everyPattern lists the patterns of the package.
func everyPattern() []*lazy {
	all := []*lazy{ansiRaw, ansiWritten, ansiOrphan, htmlTag, control, drivePath, onlyFrame, frameLeft, frameRight, quoteLeft, barEnd,
		comment, printedAfter, entryBefore, entryAfter, errorBefore, happened, ended, heading, openText, helpHeading,
		loadingBar, resumes, nanLoss, yoloNaN, arrowCode, ownClause, environment, keyNoise}
	for _, list := range [][]*lazy{epochForms, stepForms, frameForms, sourceBefore.ways, sourceAfter, hypothesis.ways, strongHypothesis.ways} {
		all = append(all, list...)
	}
	for _, rows := range [][]phaseRow{phaseFunctions, phaseLines} {
		for _, r := range rows {
			all = append(all, r.ways...)
		}
	}
	for _, f := range prefixForms {
		all = append(all, f.re)
	}
	for _, f := range factRows {
		all = append(all, f.re)
	}
	for _, r := range compiled().recovered {
		all = append(all, r.re)
	}
	for _, r := range compiled().rows {
		for _, f := range append(r.fields, r.start) {
			all = append(all, f.re, f.glued)
		}
		for _, h := range []*hint{r.near, r.hostNear, r.gpuNear} {
			if h != nil {
				all = append(all, h.lazy)
			}
		}
	}
	return all
}

// checkPattern compares a pattern with package regexp.
func checkPattern(t *testing.T, l *lazy, re *regexp.Regexp, text string) {
	t.Helper()
	want := re.FindAllStringSubmatchIndex(text, 64)
	if got := l.FindAllStringSubmatchIndex(text, 64); !reflect.DeepEqual(got, want) {
		t.Fatalf("%s in %q: %v, want %v", l.source, text, got, want)
	}
	if got, want := l.FindStringSubmatchIndex(text), re.FindStringSubmatchIndex(text); !reflect.DeepEqual(got, want) {
		t.Fatalf("%s in %q: %v, want %v", l.source, text, got, want)
	}
	if got, want := l.FindString(text), re.FindString(text); got != want {
		t.Fatalf("%s in %q: %q, want %q", l.source, text, got, want)
	}
	begin, end := l.place(text)
	if b, e := l.placeIn(text, needed.Squeeze(text)); b != begin || e != end {
		t.Fatalf("%s in %q: from %d to %d by its ways, want from %d to %d", l.source, text, b, e, begin, end)
	}
	if l.MatchString(text) != (want != nil) {
		t.Fatalf("%s in %q: matches is not %v", l.source, text, want != nil)
	}
	if want != nil && !l.may(needed.Squeeze(text)) {
		t.Fatalf("%s matches %q, which lacks %v", l.source, text, l.needs())
	}
	if got, want := l.ReplaceAllString(text, "<>"), re.ReplaceAllString(text, "<>"); got != want {
		t.Fatalf("%s in %q gives %q, want %q", l.source, text, got, want)
	}
}

// Every pattern finds what package regexp finds, in every text of the corpus.
func TestPatternsLikeRegexp(t *testing.T) {
	var lines []string
	for _, path := range texts(t) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.Split(string(b), "\n")...)
	}
	lines = append(lines, "", "é", "\xff", "\xff\xfe[31m", "cuda out of me\u017fory", "\u212aiB OUT OF", "x\n y\n", strings.Repeat("a ", 500))
	r := rand.New(rand.NewPCG(3, 4))
	for i, l := range everyPattern() {
		re, gate := regexp.MustCompile(l.source), newGate([]*lazy{l})
		few := 50
		if testing.Short() {
			few = 20
		}
		for range few {
			a, b := lines[r.IntN(len(lines))], lines[r.IntN(len(lines))]
			for _, text := range []string{a, a[:r.IntN(len(a)+1)] + []string{"", " ", "\n"}[i%3] + b[r.IntN(len(b)+1):]} {
				checkPattern(t, l, re, text)
				if found := gate.wordsIn([]byte(text)); re.MatchString(text) && !gate.allows(0, &found) {
					t.Fatalf("%s matches %q, which the gate refuses", l.source, text)
				}
			}
		}
	}
}

// Any text, and a pattern that tries a lot.
func FuzzPatterns(f *testing.F) {
	for i, m := range messages {
		f.Add(m, uint(i*31))
	}
	all := append(everyPattern(), pattern(`(?i)(?:(?:a*)*b?|\bé)*[^x]$`), pattern(`(?:x+x+)+y`), pattern(`(?m)^\s*(a|ab)(c|bcd)?$`))
	f.Fuzz(func(t *testing.T, text string, n uint) {
		if len(text) < 2000 {
			l := all[n%uint(len(all))]
			checkPattern(t, l, l.get(), text)
		}
	})
}

// A search that tries too much is left to package regexp.
func TestHardPatterns(t *testing.T) {
	l := pattern(`(x+x+)+y|z(.*)$`)
	checkPattern(t, l, l.get(), strings.Repeat("x", 4000)+"\nzab")
	checkPattern(t, pattern(`^x?`), regexp.MustCompile(`^x?`), "y")
	checkPattern(t, pattern(`x?$`), regexp.MustCompile(`x?$`), "yx")
	checkPattern(t, pattern(`x*`), regexp.MustCompile(`x*`), "yxéx")
	checkPattern(t, pattern(`(?:(?:a*)*)*b`), regexp.MustCompile(`(?:(?:a*)*)*b`), "aaac aaab")
}

// Ends of the text and ends of its lines are told apart.
func TestPlacesOfPatterns(t *testing.T) {
	for _, source := range []string{`(?m)^b`, `(?m)b$`, `(?m)^b$`, `^b`, `b$`, `\bb\b`, `\Bb\B`, `(?m)^$`} {
		l := pattern(source)
		for _, text := range []string{"", "b", "a\nb\nc", "a\nbc", "ab\nc", "b\na", "a\nb", "abc", "a b c", "\n", "b\n"} {
			checkPattern(t, l, l.get(), text)
		}
	}
}
