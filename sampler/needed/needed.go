package needed

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// OneOf are words of which a text must have one.
type OneOf []string

// strength is the length of the shortest word: longer ones are rarer. 0: the words are in every text.
func (o OneOf) strength() int {
	least := 0
	for i, w := range o {
		n := len(w)
		if n == 1 && (w[0] >= 'a' && w[0] <= 'z' || isDigit(w[0]) || w[0] == '_') {
			n = 0
		}
		if i == 0 {
			least = n
		}
		least = min(least, n)
	}
	return least
}

const (
	maxNeeds = 6  // demands of a pattern that are looked for
	maxOneOf = 12 // words of one demand
	maxClass = 4  // letters of a class that are told apart
)

// Of is what texts have that a pattern matches: all demands of one of the lists, of which there is one
// for each way the pattern has. nil: nothing is known. apart: words end at white space.
func Of(tree *syntax.Regexp, apart bool) (lists [][]OneOf) {
	for _, way := range Alternatives(tree) {
		all := DemandsOf(way, apart)
		if len(all) == 0 {
			return nil
		}
		slices.SortStableFunc(all, func(a, b OneOf) int { return b.strength() - a.strength() })
		lists = append(lists, all[:min(len(all), maxNeeds)])
	}
	return lists
}

// Alternatives are the ways that a pattern has, in their order.
func Alternatives(tree *syntax.Regexp) (all []*syntax.Regexp) {
	switch last := len(tree.Sub) - 1; tree.Op {
	case syntax.OpCapture:
		return Alternatives(tree.Sub[0])
	case syntax.OpAlternate:
		for _, sub := range tree.Sub {
			all = append(all, Alternatives(sub)...)
		}
		return all
	case syntax.OpConcat: // the parser puts what alternatives begin with, as \b, before all of them
		if tree.Sub[last].Op == syntax.OpAlternate && !slices.ContainsFunc(tree.Sub[:last], hasWidth) {
			for _, sub := range Alternatives(tree.Sub[last]) {
				all = append(all, &syntax.Regexp{Op: syntax.OpConcat, Flags: tree.Flags, Sub: append(slices.Clone(tree.Sub[:last]), sub)})
			}
			return all
		}
	}
	return []*syntax.Regexp{tree}
}

// hasWidth says whether a part of a pattern takes letters of the text.
func hasWidth(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return false
	}
	return true
}

// demands collects what a pattern needs, from left to right.
type demands struct {
	all   []OneOf
	run   OneOf // the words that are being read
	apart bool
}

// DemandsOf is what a pattern needs that has one way, from left to right.
func DemandsOf(tree *syntax.Regexp, apart bool) []OneOf {
	d := demands{run: OneOf{""}, apart: apart}
	d.read(tree)
	d.end()
	return d.all
}

// end ends the words that are being read.
func (d *demands) end() {
	d.add(d.run)
	d.run = OneOf{""}
}

func (d *demands) add(o OneOf) {
	if o.strength() > 0 {
		d.all = append(d.all, slices.DeleteFunc(slices.Clone(o), func(w string) bool {
			return slices.ContainsFunc(o, func(part string) bool { return part != w && strings.Contains(w, part) })
		}))
	}
}

func (d *demands) read(re *syntax.Regexp) {
	if words := exactly(re, d.apart); words != nil {
		if longer := each(d.run, words); longer != nil {
			d.run = longer
			return
		}
		d.end()
		d.run = words
		return
	}
	switch re.Op {
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			d.read(sub)
		}
		return
	case syntax.OpAlternate:
		d.add(either(re.Sub, d.apart))
	case syntax.OpPlus, syntax.OpRepeat:
		if re.Op == syntax.OpPlus || re.Min > 0 {
			d.all = append(d.all, DemandsOf(re.Sub[0], d.apart)...)
		}
	}
	d.end()
}

// each are the words of a followed by those of b; nil when they are too many.
func each(a, b OneOf) (all OneOf) {
	if len(a)*len(b) > maxOneOf {
		return nil
	}
	for _, x := range a {
		for _, y := range b {
			all = append(all, x+y)
		}
	}
	return all
}

// either is what one of several ways needs; nil when one needs nothing.
func either(ways []*syntax.Regexp, apart bool) (all OneOf) {
	for _, way := range ways {
		var best OneOf
		for _, o := range DemandsOf(way, apart) {
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

// exactly are the few texts that a part of a pattern matches, squeezed; nil when they are many.
func exactly(re *syntax.Regexp, apart bool) (words OneOf) {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary, syntax.OpEmptyMatch:
		return OneOf{""}
	case syntax.OpLiteral:
		return spelled(re.Rune, apart)
	case syntax.OpCharClass:
		return oneLetter(re.Rune, apart)
	case syntax.OpCapture:
		return exactly(re.Sub[0], apart)
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		words = exactly(re.Sub[0], apart)
		switch {
		case len(words) == 1 && words[0] == "" && !apart: // blanks
			return words
		case words != nil && re.Op == syntax.OpQuest && len(words) < maxOneOf:
			return append(OneOf{""}, words...)
		}
		return nil
	case syntax.OpConcat:
		words = OneOf{""}
		for _, sub := range re.Sub {
			if words = each(words, exactly(sub, apart)); words == nil {
				return nil
			}
		}
		return words
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			one := exactly(sub, apart)
			if one == nil || len(words)+len(one) > maxOneOf {
				return nil
			}
			words = append(words, one...)
		}
		return words
	}
	return nil
}

// spelled is a word as squeeze leaves it; nil where it has letters beyond ASCII, which are not folded.
func spelled(letters []rune, apart bool) OneOf {
	var b strings.Builder
	for _, r := range letters {
		if r >= utf8.RuneSelf || apart && isSpace(byte(r)) {
			return nil
		}
		switch {
		case isSpace(byte(r)):
		case !apart && isDigit(byte(r)):
			b.WriteByte('0')
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return OneOf{b.String()}
}

// oneLetter are the letters of a class, squeezed; nil for many.
func oneLetter(ranges []rune, apart bool) (words OneOf) {
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			short := Squeeze(string(r))
			w := string(short.text)
			short.Done()
			if apart && r < utf8.RuneSelf && isDigit(byte(r)) {
				w = string(r)
			}
			if len(w) > 1 || len(words) > maxClass || apart && w == "" {
				return nil
			}
			if !slices.Contains(words, w) {
				words = append(words, w)
			}
		}
	}
	if len(words) > maxClass {
		return nil
	}
	return words
}

// Words are what a text must have to be matched: one word of each demand of one of the lists. nil: nothing is known.
type Words [][][]word

// WordsOf makes words of what [Of] found.
func WordsOf(lists [][]OneOf) (out Words) {
	for _, list := range lists {
		var demands [][]word
		for _, o := range list {
			var words []word
			for _, w := range o {
				words = append(words, newWord(w))
			}
			demands = append(demands, words)
		}
		out = append(out, demands)
	}
	return out
}
