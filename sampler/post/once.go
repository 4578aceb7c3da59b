package post

import (
	"reflect"
	"slices"

	"nvpeak/sampler"
)

// contexts are what was added to those of failures so far. What a text says is added alike to all whose own lines say the same of what it is added by, so
// that a hundred failures in one text take no longer than the few that differ.
type contexts []struct{ own, with ownWords }

// ownWords are the parts of a context by which add and addFacts decide, and those that they add to.
type ownWords struct {
	command, phase, server   string
	functions, scripts, told []string
	counted                  bool // its epoch or its step is known
}

func wordsIn(c *sampler.LogContext) ownWords {
	return ownWords{c.Command, c.Phase, c.Server, slices.Clone(c.Functions), slices.Clone(c.Scripts), slices.Clone(c.Told), c.Epoch.Known() || c.Step.Known()}
}

// add lets a function add to a context, unless one that said the same was added to before.
func (list *contexts) add(c *sampler.LogContext, to func(*sampler.LogContext)) {
	own := wordsIn(c)
	for _, one := range *list {
		if reflect.DeepEqual(one.own, own) {
			c.Command, c.Phase, c.Server, c.Scripts, c.Told = one.with.command, one.with.phase, one.with.server, slices.Clone(one.with.scripts), slices.Clone(one.with.told)
			return
		}
	}
	to(c)
	*list = append(*list, struct{ own, with ownWords }{own, wordsIn(c)})
}
