package retry

import (
	"cmp"
	"slices"

	"nvpeak/advice/explain"
	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

// Death is a try that died of GPU memory, and what there is to change.
type Death struct {
	Explanation explain.Explanation
	Args        []string // of the try
	Env         []string
	GPUs        *GPUs           // as they are now; nil: the command may not be moved
	Declined    map[string]bool // measures, by the id of the fix, that somebody does not want
	Idle        string          // the fix of the last change, if that brought nothing: any other goes before it
}

// Change is what another try does differently.
type Change struct {
	Fix   string // the id of the advice that it follows
	Args  []string
	Env   []string
	what  sentence // what is changed
	note  sentence // what follows from it; without an id: nothing
	cause string   // id
	guess bool     // that it is this one
}

// sentence is one of package lang.
type sentence struct {
	id    string
	pairs []any
}

func say(words lang.Catalog, s sentence) string { return words.Say(s.id, s.pairs...) }

// What says what is changed.
func (c Change) What(words lang.Catalog) string { return say(words, c.what) }

// Cause says of what the try before died.
func (c Change) Cause(words lang.Catalog) string {
	cause := words.Say("cause." + c.cause)
	if c.guess {
		return words.Say("retry.perhaps", "cause", cause)
	}
	return cause
}

// Note says what follows from the change; empty: nothing.
func (c Change) Note(words lang.Catalog) string {
	if c.note.id == "" {
		return ""
	}
	return say(words, c.note)
}

// Refusal is why nothing is tried again.
type Refusal struct{ sentence }

// Say says it.
func (r *Refusal) Say(words lang.Catalog) string { return say(words, r.sentence) }

func refuse(id string, pairs ...any) *Refusal { return &Refusal{sentence{id, pairs}} }

// measure is what can be done about a death from outside, as the advice of one id has it.
type measure struct {
	fix   string
	apply func(d *Death) (Change, *Refusal)
}

var measures = []measure{
	{explain.FixStopOtherProcess, moveToFreer},
	{explain.FixExpandableSegments, expandSegments},
	{explain.FixShrinkValidationBatch, shrinkValidation},
	{explain.FixHalveBatchAccumulate, halveBatch},
	{explain.FixCapPreallocation, setVariable(explain.FixCapPreallocation)},
	{explain.FixOtherAllocator, setVariable(explain.FixOtherAllocator)},
	{explain.FixRaiseLimit, setVariable(explain.FixRaiseLimit)},
}

// nearlySure: a cause is as good as another that is said with so little more confidence.
const nearlySure = 0.1

// leakSeen: below it a cause is guessed, a leak from no more than how late the failure came. A try costs less than a night without one.
const leakSeen = 0.65

// Next is the first measure that explain advises and that can be applied from outside, or why there is none.
func Next(d Death) (Change, *Refusal) {
	causes := d.Explanation.Causes
	top := explain.TopCause(causes)
	if near := nearly(causes); top == explain.CauseUnknown && len(near) > 1 {
		top = near[1]
	}
	switch {
	case top == explain.CauseUnknown:
		return Change{}, refuse("retry.unknown")
	case top == explain.CauseLeak && causes[0].Confidence >= leakSeen:
		return Change{}, refuse("retry.leak")
	}
	var why *Refusal
	for _, m := range d.order() {
		change, no := m.apply(&d)
		if no == nil {
			change.Fix, change.cause, change.guess = m.fix, top, causes[0].Confidence < leakSeen
			return change, nil
		}
		why = cmp.Or(why, no)
	}
	if _, no := halveBatch(&d); why == nil && no != nil && no.id == "retry.batch_one" { // nobody advises it then
		why = no
	}
	return Change{}, cmp.Or(why, refuse("retry.nothing"))
}

// nearly are the causes that may as well be the first.
func nearly(causes []sampler.Cause) (ids []string) {
	for _, c := range causes {
		if c.Confidence >= causes[0].Confidence-nearlySure {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// order are the measures that are advised, as they are ranked. What changes nothing of the training comes first: a
// GPU with more room, and the option of the allocator where fragmentation may as well be the cause.
func (d *Death) order() (list []measure) {
	first := func(fix string) bool {
		switch fix {
		case explain.FixStopOtherProcess:
			return d.GPUs.Leave()
		case explain.FixExpandableSegments:
			return slices.Contains(nearly(d.Explanation.Causes), explain.CauseFragmentation)
		}
		return false
	}
	var later []measure
	for _, m := range measures {
		if first(m.fix) && !d.Declined[m.fix] && (m.fix == explain.FixStopOtherProcess || d.advice(m.fix) != nil) {
			list = append(list, m)
		}
	}
	for _, a := range d.Explanation.Advice {
		i := slices.IndexFunc(measures, func(m measure) bool { return m.fix == a.ID })
		if i >= 0 && !first(a.ID) && !d.Declined[a.ID] {
			later = append(later, measures[i])
		}
	}
	list = append(list, later...)
	if i := slices.IndexFunc(list, func(m measure) bool { return m.fix == d.Idle }); i >= 0 {
		list = append(slices.Delete(slices.Clone(list), i, i+1), list[i])
	}
	return list
}

// advice is that of an id; nil: it is not given.
func (d *Death) advice(fix string) *sampler.Advice {
	i := slices.IndexFunc(d.Explanation.Advice, func(a sampler.Advice) bool { return a.ID == fix })
	if i < 0 {
		return nil
	}
	return &d.Explanation.Advice[i]
}

// event is the failure that began it.
func (d *Death) event() *explain.Event {
	return &d.Explanation.Events[d.Explanation.Verdict.Event]
}

// All says all that changes have changed since the first try: of one option the first value and the last.
func All(list []Change, words lang.Catalog) string {
	var kept []sentence
	for _, c := range list {
		i := slices.IndexFunc(kept, func(s sentence) bool { return s.id == c.what.id && s.pair("option") == c.what.pair("option") })
		if i < 0 || c.what.id == "retry.setting" {
			kept = append(kept, c.what)
			continue
		}
		s := c.what
		s.pairs = slices.Clone(s.pairs)
		for n := 0; n+1 < len(s.pairs); n += 2 {
			if s.pairs[n] == "before" {
				s.pairs[n+1] = kept[i].pair("before")
			}
		}
		kept[i] = s
	}
	text := ""
	for i, s := range kept {
		if i > 0 {
			text += words.Say("list.comma")
		}
		text += say(words, s)
	}
	return text
}

// pair is the value of a name.
func (s sentence) pair(name string) any {
	for n := 0; n+1 < len(s.pairs); n += 2 {
		if s.pairs[n] == name {
			return s.pairs[n+1]
		}
	}
	return nil
}
