// Package lang holds every sentence that nvpeak says, one file for each language. A further
// language is one file and one line in languages.go.
package lang

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Catalog is every sentence in one language.
type Catalog struct {
	Lang  string // its code, "en"
	texts map[string]string
}

// Say returns the sentence id with its {placeholders} filled in from name, value pairs.
// An unknown id comes back as it is, so a gap is seen and not silent.
func (c Catalog) Say(id string, pairs ...any) string {
	text, known := c.texts[id]
	if !known {
		return id
	}
	if len(pairs) == 0 {
		return text
	}
	return fill(text, pairs)
}

// Rough is an amount as it is said where it may be known only about.
func (c Catalog) Rough(amount any, about bool) any {
	if !about {
		return amount
	}
	return c.Say("rough", "amount", amount)
}

// fill puts the values of the pairs in the places of their names; what has no value stays. A blank beside a place is dropped
// where Chinese characters or punctuation stand on both sides of it: it is for values in Latin letters and numbers.
func fill(text string, pairs []any) string {
	out := make([]byte, 0, 2*len(text))
	for {
		open := strings.IndexByte(text, '{')
		if open < 0 {
			break
		}
		out = append(out, text[:open]...)
		text = text[open:]
		end := strings.IndexByte(text, '}')
		value, known := valueOf(text[1:max(end, 1)], pairs)
		if !known {
			out = append(out, '{')
			text = text[1:]
			continue
		}
		if before, blank := bytes.CutSuffix(out, []byte(" ")); blank && endsWide(before) && beginsWide(value) {
			out = before
		}
		out = append(out, value...)
		text = text[end+1:]
		if after, blank := strings.CutPrefix(text, " "); blank && endsWide(out) && beginsWide(after) {
			text = after
		}
	}
	return string(append(out, text...))
}

func beginsWide(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return wide(r)
}

func endsWide(s []byte) bool {
	r, _ := utf8.DecodeLastRune(s)
	return wide(r)
}

// wide says whether a character is Chinese, or punctuation of that width.
func wide(r rune) bool {
	return unicode.Is(unicode.Han, r) || r >= 0x3001 && r <= 0x3011 || r >= 0xff01 && r <= 0xff1f
}

func valueOf(name string, pairs []any) (value string, known bool) {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i] == name {
			if s, ok := pairs[i+1].(string); ok {
				return s, true
			}
			return fmt.Sprint(pairs[i+1]), true
		}
	}
	return "", false
}

// IDs is the catalog in which every sentence is its own id: what is said, in whichever words. Tests hold on to it.
func (c Catalog) IDs() Catalog {
	ids := make(map[string]string, len(c.texts))
	for id := range c.texts {
		ids[id] = id
	}
	return Catalog{c.Lang, ids}
}

// Has says whether the catalog holds a sentence.
func (c Catalog) Has(id string) bool { _, ok := c.texts[id]; return ok }

// Confidence says a confidence of 0..1 in a word: sure, likely, possible, weak.
func (c Catalog) Confidence(p float64) string {
	switch {
	case p >= 0.9:
		return c.Say("sure.high")
	case p >= 0.6:
		return c.Say("sure.likely")
	case p >= 0.4:
		return c.Say("sure.possible")
	}
	return c.Say("sure.weak")
}

// Span is a time in words that do not pretend to be exact: "40 s", "4 min", "2.5 h".
func (c Catalog) Span(seconds float64) string {
	unit, n := span(seconds)
	return c.Say(unit, "n", n)
}

// Lasted is how long something took, short times with more digits: "20 ms", "1.5 s", "40 s", "4 min".
func (c Catalog) Lasted(seconds float64) string {
	tenths := math.Round(seconds * 10)
	switch {
	case seconds < 0.9995:
		return c.Say("span.ms", "n", fmt.Sprintf("%.0f", seconds*1000))
	case tenths < 100 && math.Mod(tenths, 10) != 0:
		return c.Say("span.s", "n", fmt.Sprintf("%.1f", tenths/10))
	}
	return c.Span(seconds)
}

// Count is a number of things, in the singular or the plural: "1 spike", "3 spikes".
func (c Catalog) Count(id string, n int) string {
	if n == 1 {
		return c.Say(id+".one", "n", n)
	}
	return c.Say(id+".many", "n", n)
}

// Spans is a range of times: "4 to 5 min", "50 s to 2 min".
func (c Catalog) Spans(low, high float64) string {
	small, a := span(low)
	large, b := span(high)
	switch {
	case small != large:
		return c.Say("span.range", "low", c.Say(small, "n", a), "high", c.Say(large, "n", b))
	case a == b:
		return c.Say(large, "n", b)
	}
	return c.Say(large, "n", c.Say("span.range", "low", a, "high", b))
}

// span is a time as the id of its unit and a number.
func span(seconds float64) (unit, n string) {
	switch {
	case seconds < 90:
		return "span.s", fmt.Sprintf("%.0f", max(0, seconds))
	case seconds < 90*60:
		return "span.min", fmt.Sprintf("%.0f", seconds/60)
	case seconds < 48*3600:
		return "span.h", fmt.Sprintf("%.1f", seconds/3600)
	}
	return "span.days", fmt.Sprintf("%.1f", seconds/86400)
}
