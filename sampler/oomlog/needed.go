package oomlog

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Most patterns that are tried on a text cannot match it, because they need a word that is not in it.
// Which words a pattern needs is read from the pattern itself. They are compared in lower case and without
// white space, because the tables let any white space stand, or be missing, between two words.

// squeeze makes of a text what needed words are looked for in.
func squeeze(text string) string {
	var room [512]byte
	out := room[:0]
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		case isSpace(c):
			continue
		case c == 0xc5 && strings.HasPrefix(text[i:], "\u017f"): // the two letters beyond ASCII that
			c, i = 's', i+1 // patterns take for one of its letters
		case c == 0xe2 && strings.HasPrefix(text[i:], "\u212a"):
			c, i = 'k', i+2
		}
		out = append(out, c)
	}
	return string(out)
}

// blanks are what \s matches.
const blanks = " \t\n\f\r"

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' && c != '\v' }

// oneOf are words of which a text must have one.
type oneOf []string

func (o oneOf) in(squeezed string) bool {
	for _, w := range o {
		if strings.Contains(squeezed, w) {
			return true
		}
	}
	return false
}

// strength is the length of the shortest word: longer ones are rarer.
func (o oneOf) strength() int {
	least := 0
	for i, w := range o {
		if i == 0 || len(w) < least {
			least = len(w)
		}
	}
	return least
}

// demands collects what a pattern needs, from left to right.
type demands struct {
	all []oneOf
	run strings.Builder // of the word that is being read
}

// needed is what every text has that a pattern matches.
func needed(tree *syntax.Regexp) []oneOf {
	var d demands
	d.read(tree)
	d.end()
	return d.all
}

// maxNeeds is how many demands of a pattern are looked for; a letter alone is in every text.
const maxNeeds = 3

// strongest are the demands of a pattern that are worth a look.
func strongest(tree *syntax.Regexp) []oneOf {
	all := slices.DeleteFunc(needed(tree), func(o oneOf) bool { return o.strength() < 2 && strings.ContainsFunc(o[0], unicode.IsLetter) })
	slices.SortStableFunc(all, func(a, b oneOf) int { return b.strength() - a.strength() })
	return all[:min(len(all), maxNeeds)]
}

// end ends the word that is being read.
func (d *demands) end() {
	if w := d.run.String(); w != "" {
		d.all = append(d.all, oneOf{w})
	}
	d.run.Reset()
}

func (d *demands) read(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			d.letter(r)
		}
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			d.read(sub)
		}
	case syntax.OpAlternate:
		d.end()
		if o := either(re.Sub); o != nil {
			d.all = append(d.all, o)
		}
	case syntax.OpPlus, syntax.OpRepeat:
		if blank(re.Sub[0]) {
			return
		}
		d.end()
		if re.Op == syntax.OpPlus || re.Min > 0 {
			d.all = append(d.all, needed(re.Sub[0])...)
		}
	case syntax.OpStar, syntax.OpQuest:
		if !blank(re.Sub[0]) {
			d.end()
		}
	case syntax.OpCharClass:
		if !blank(re) {
			d.end()
		}
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary, syntax.OpEmptyMatch:
	default:
		d.end()
	}
}

func (d *demands) letter(r rune) {
	switch {
	case r >= utf8.RuneSelf:
		d.end()
	case !isSpace(byte(r)):
		d.run.WriteRune(unicode.ToLower(r))
	}
}

// either is what one of several ways needs; nil when one needs nothing.
func either(ways []*syntax.Regexp) (all oneOf) {
	for _, way := range ways {
		var best oneOf
		for _, o := range needed(way) {
			if o.strength() > best.strength() {
				best = o
			}
		}
		if best == nil {
			return nil
		}
		all = append(all, best...)
	}
	return all
}

// blank says whether a part matches white space only.
func blank(re *syntax.Regexp) bool {
	if re.Op == syntax.OpLiteral {
		for _, r := range re.Rune {
			if r >= utf8.RuneSelf || !isSpace(byte(r)) {
				return false
			}
		}
		return true
	}
	if re.Op != syntax.OpCharClass {
		return false
	}
	for i := 0; i < len(re.Rune); i += 2 {
		for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
			if r >= utf8.RuneSelf || !isSpace(byte(r)) {
				return false
			}
		}
	}
	return true
}
