package explain

import (
	"slices"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

// judge makes one verdict for the run from its events: the first that the program did not
// survive began it; later deaths of other ranks are consequences, unless they hit the same wall
// on a GPU of their own.
func judge(words lang.Catalog, in Incident, failures []*failure, all Explanation) Verdict {
	events := all.Events
	v := Verdict{Event: -1, Victims: []int{}, AlsoHit: []int{}}
	if len(failures) == 0 {
		v.Headline, v.Detail = words.Say("verdict.none"), words.Say("verdict.none_detail")
		if len(in.Snapshots) > 0 {
			v.Headline, v.Detail = words.Say("torch.empty"), words.Say("torch.no_frames")
		}
		return v
	}
	order, first := inOrder(in)
	if first < 0 {
		v.Recovered, v.Event = true, order[len(order)-1]
		id := "verdict.recovered"
		if len(order) == 1 {
			id = "verdict.recovered_once"
		}
		v.Headline, v.Detail = words.Say(id, "count", len(order)+all.Omitted), events[v.Event].Detail
		v.Run = sayOmitted(words, all.Omitted)
		return v
	}
	v.Event = order[first]
	begin := failures[v.Event]
	for _, i := range order[first+1:] {
		switch f := failures[i]; {
		case f.event.Recovered:
		case f.consequenceOf(begin):
			v.Victims = append(v.Victims, i)
		default:
			v.AlsoHit = append(v.AlsoHit, i)
		}
	}
	v.FirstRank = begin.event.Rank
	v.Headline, v.Detail = events[v.Event].Headline, events[v.Event].Detail
	v.Run = v.sayRun(words, failures, order[:first])
	if omitted := sayOmitted(words, all.Omitted); omitted != "" {
		v.Run += words.Say("detail.space") + omitted
	}
	return v
}

// First is the event that the verdict is about: the one that began it, else the last that the
// program survived; -1 without events.
func First(in Incident) int {
	order, first := inOrder(in)
	switch {
	case len(order) == 0:
		return -1
	case first < 0:
		return order[len(order)-1]
	}
	return order[first]
}

// inOrder are the events as they happened, and the place among them of the first that the
// program did not survive; -1: it survived all.
func inOrder(in Incident) (order []int, first int) {
	for i := range in.Events {
		order = append(order, i)
	}
	if len(in.Files) == 0 || in.Files[0] == "" { // lines of several files say nothing of order
		slices.SortStableFunc(order, func(a, b int) int { return in.Events[a].Line - in.Events[b].Line })
	}
	return order, slices.IndexFunc(order, func(i int) bool { return !in.Events[i].Recovered })
}

// sayOmitted is what is said of events that are only counted.
func sayOmitted(words lang.Catalog, count int) string {
	if count == 0 {
		return ""
	}
	return words.Say("verdict.omitted", "count", count)
}

// consequenceOf: a text without numbers, or a kill, of another rank after the first failure: its
// peers lose their partner and are ended by the launcher.
func (f *failure) consequenceOf(first *failure) bool {
	if f.class.class == classNoNumbers || f.event.Kind == sampler.KindKilled || f.event.Kind == sampler.KindWorkerKilled {
		return !first.onHost() || f.class.class == classNoNumbers
	}
	return false
}

// engines are the frameworks of which a run has one. Others are libraries that a rank of any may name: nccl, cuda, thrust.
var engines = []string{"pytorch", "jax", "tensorflow", "paddle", "mxnet", "mindspore", "caffe", "cntk", "theano", "torch7"}

// ofAnotherRun: the logs are of different engines, or of GPUs of different sizes, so that they are not of the ranks of one run.
func (f *failure) ofAnotherRun(first *failure) bool {
	if f.file == first.file {
		return false
	}
	total, known := f.total.Value()
	firsts, also := first.total.Value()
	apart := f.event.Framework != first.event.Framework && slices.Contains(engines, f.event.Framework) && slices.Contains(engines, first.event.Framework)
	return apart && !f.onHost() && !first.onHost() || known && also && (total > firsts+partOf(firsts, 0.05) || firsts > total+partOf(total, 0.05))
}

// sayRun says what else failed. survived are the failures before the one that it is about.
func (v Verdict) sayRun(words lang.Catalog, failures []*failure, survived []int) string {
	if len(failures) < 2 {
		return ""
	}
	who := func(i int) string {
		if r, known := failures[i].event.Rank.Value(); known {
			return words.Say("verdict.rank", "rank", r)
		}
		if file := failures[i].file; file != "" && failures[i].event.Line == 0 {
			return file // a memory snapshot
		} else if file != "" {
			return words.Say("verdict.file", "file", file, "line", failures[i].event.Line)
		}
		return words.Say("verdict.line", "line", failures[i].event.Line)
	}
	var same, others, apart []int // the GPU is one wall, and the machine's memory another
	for _, i := range v.AlsoHit {
		if failures[i].ofAnotherRun(failures[v.Event]) {
			apart = append(apart, i)
		} else if failures[i].onHost() == failures[v.Event].onHost() {
			same = append(same, i)
		} else {
			others = append(others, i)
		}
	}
	text := words.Say("verdict.first", "who", who(v.Event))
	switch n := len(survived); {
	case n > 0:
		text = words.Say("verdict.after", "who", who(v.Event), "count", n, "survived", listOf(words, survived, who))
	case len(apart) > 0 && len(apart) == len(v.AlsoHit) && len(v.Victims) == 0:
		text = words.Say("verdict.this", "who", who(v.Event)) // none of them has a first
	}
	if n := len(same); n > 0 {
		text += words.Say("detail.space") + words.Say("verdict.also", "count", n, "who", listOf(words, same, who))
	}
	if n := len(others); n > 0 {
		text += words.Say("detail.space") + words.Say("verdict.another", "count", n, "who", listOf(words, others, who))
	}
	if n := len(apart); n > 0 {
		text += words.Say("detail.space") + words.Say("verdict.apart", "count", n, "who", listOf(words, apart, who))
	}
	if n := len(v.Victims); n > 0 {
		text += words.Say("detail.space") + words.Say("verdict.victims", "count", n, "who", listOf(words, v.Victims, who))
	}
	return text
}

// listOf joins up to four names.
func listOf(words lang.Catalog, items []int, who func(int) string) string {
	text := ""
	for n, i := range items {
		if n == 4 {
			return text + ", …"
		}
		if n > 0 {
			text += ", "
		}
		text += who(i)
	}
	return text
}
