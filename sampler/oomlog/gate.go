package oomlog

import (
	"bytes"
	"slices"
	"sync"

	"nvpeak/sampler/needed"
)

// gate tells which of several patterns a text may match, in one pass for the words that they need.
type gate struct {
	set     *wordSet
	demands [][][]wordMask // pattern → way → words of which the text must have one, each; nil: nothing is needed
}

func newGate(patterns []*lazy) *gate {
	g := &gate{}
	var words []string
	var needs [][][]needed.OneOf
	for _, l := range patterns {
		ways := needed.Of(parse(l.source), true)
		for _, way := range ways {
			words = append(words, slices.Concat(way...)...)
		}
		needs = append(needs, ways)
	}
	g.set = newWordSet(words)
	for _, ways := range needs {
		var all [][]wordMask
		for _, way := range ways {
			var masks []wordMask
			for _, demand := range way {
				masks = append(masks, g.set.mask(demand))
			}
			all = append(all, masks)
		}
		g.demands = append(g.demands, all)
	}
	return g
}

// wordsIn are the words of a text that the patterns need; all where it has one of the two letters beyond ASCII
// that patterns take for one of its letters.
func (g *gate) wordsIn(text []byte) (found wordMask) {
	g.set.scan(text, &found)
	if bytes.Contains(text, []byte("\u017f")) || bytes.Contains(text, []byte("\u212a")) {
		for i := range found {
			found[i] = ^uint64(0)
		}
	}
	return found
}

// allows says whether a text with these words can match a pattern.
func (g *gate) allows(pattern int, found *wordMask) bool {
	for _, way := range g.demands[pattern] {
		if !slices.ContainsFunc(way, func(m wordMask) bool { return !found.meets(&m) }) {
			return true
		}
	}
	return g.demands[pattern] == nil
}

// gated are ways whose patterns are tried only where the words are that they need: for short texts.
type gated struct {
	ways
	gate  func() *gate
	blind func() bool
}

func gatedAnyOf(flags string, patterns ...string) *gated {
	all := anyOf(flags, patterns...)
	return &gated{all, sync.OnceValue(func() *gate { return newGate(all) }), sync.OnceValue(func() bool { return allBlind(all) })}
}

func (g *gated) match(s string) bool {
	gate := g.gate()
	found := gate.wordsIn([]byte(s))
	for i, l := range g.ways {
		if gate.allows(i, &found) && l.MatchString(s) {
			return true
		}
	}
	return false
}
