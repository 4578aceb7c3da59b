package explain

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"nvpeak/sampler"
)

// fixRow is one thing that can be changed. Texts are in the catalogue under "fix.<id>.title",
// ".why" and ".cost", each with an optional variant: "fix.<id>.title.<variant>".
type fixRow struct {
	id      string
	source  string
	fits    map[string]float64  // how well it answers a cause, 0..1; a cause not named is not answered
	when    func(*failure) bool // it can help here and is not in force already
	variant func(*failure) string
	saves   func(*failure) (span, bool) // bytes gained at the moment of failure; false: not known
	reach   func(*failure) float64      // chance that it suffices, where saves cannot tell
	do      func(*failure) []string     // what to type
	pairs   func(*failure) []any        // further placeholders of its texts
}

// oomFixes is every fix there is, the cheap ones first: order breaks ties.
var oomFixes = slices.Concat(fixesOthers, fixesAllocator, fixesValidation, fixesData, fixesBatch, fixesModel, fixesHost, fixesUnknown)

// scored is a fix with how much it promises.
type scored struct {
	row   fixRow
	score float64
	saves span
	known bool
}

// Advise ranks the fixes that answer the causes: the confidence of a cause, times how well the
// fix answers it, times the chance that it suffices.
func (f *failure) Advise(causes []sampler.Cause) []sampler.Advice {
	var list []scored
	for _, row := range oomFixes {
		if f.onHost() != fixesHostMemory(row) || f.corrupt() && row.id != "record_run" || !row.when(f) {
			continue
		}
		s := scored{row: row}
		if row.saves != nil {
			s.saves, s.known = row.saves(f)
		}
		chance := f.chance(s)
		for _, c := range causes { // the cause it answers best counts, the others break ties
			one := c.Confidence * c.Confidence * row.fits[c.ID] * chance
			s.score = max(s.score, one) + 0.05*min(s.score, one)
		}
		if s.score > 0.02 {
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	out := []sampler.Advice{}
	for i, s := range list[:min(len(list), 7)] {
		out = append(out, f.render(s, i+1))
	}
	return out
}

// fixesHostMemory: the fix answers a host-memory death and nothing on the GPU.
func fixesHostMemory(row fixRow) bool {
	return row.fits["host_memory"] > 0 || row.fits["shared_memory"] > 0
}

// chance is how likely a fix is to be enough alone.
func (f *failure) chance(s scored) float64 {
	if s.row.reach != nil {
		return s.row.reach(f)
	}
	if !s.known {
		return 0.85
	}
	if _, known := f.missing(); !known {
		return 0.8
	}
	return s.saves.covers(f.needed())
}

// covers is the chance that a saving between the bounds reaches an amount.
func (s span) covers(need sampler.Bytes) float64 {
	switch {
	case s.low >= need:
		return 1
	case s.high < need:
		return 0.25 * float64(s.high) / math.Max(1, float64(need))
	case s.high == s.low:
		return 1
	}
	return 0.3 + 0.65*float64(s.high-need)/float64(s.high-s.low)
}

// render writes a fix out.
func (f *failure) render(s scored, rank int) sampler.Advice {
	variant := ""
	if s.row.variant != nil {
		variant = s.row.variant(f)
	}
	var pairs []any
	if s.row.pairs != nil {
		pairs = s.row.pairs(f)
	}
	say := func(what string) string {
		id := "fix." + s.row.id + "." + what
		if variant != "" && f.words.Has(id+"."+variant) {
			id += "." + variant
		}
		return f.words.Say(id, pairs...)
	}
	a := sampler.Advice{ID: s.row.id, Rank: rank, Title: say("title"), Why: say("why"), Cost: say("cost"), Source: f.source(s.row), Do: []string{}}
	if s.known && s.saves.high > 0 {
		a.Saves = sampler.Some(sampler.Range{Low: s.saves.low, High: s.saves.high})
	}
	if s.row.do != nil {
		a.Do = append(a.Do, f.ofVendor(s.row.do(f))...)
	}
	return a
}

// source is where a fix is described: that of the server or framework, where the fix is its option.
func (f *failure) source(row fixRow) string {
	switch {
	case row.id != "raise_limit" && row.id != "cap_preallocation" || f.onHost():
	case f.server() == "vllm":
		return "https://docs.vllm.ai/en/latest/configuration/conserving_memory.html"
	case f.server() == "sglang":
		return "https://docs.sglang.ai/advanced_features/hyperparameter_tuning.html"
	case f.event.Kind == sampler.KindXLA:
		return sourceJAX
	case f.event.Kind == sampler.KindMPS:
		return "https://docs.pytorch.org/docs/stable/mps_environment_variables.html"
	}
	return row.source
}

// ofVendor names the tools of the maker of the card.
func (f *failure) ofVendor(list []string) []string {
	var r *strings.Replacer
	switch f.event.Kind {
	case sampler.KindHIP:
		r = strings.NewReplacer("nvidia-smi --query-compute-apps=pid,name,used_memory --format=csv", "rocm-smi --showpids", "nvidia-smi", "rocm-smi", "/dev/nvidia*", "/dev/kfd")
	case sampler.KindNPU:
		r = strings.NewReplacer("nvidia-smi --query-compute-apps=pid,name,used_memory --format=csv", "npu-smi info", "nvidia-smi", "npu-smi info", "/dev/nvidia*", "/dev/davinci*")
	case sampler.KindXPU:
		r = strings.NewReplacer("nvidia-smi --query-compute-apps=pid,name,used_memory --format=csv", "xpu-smi ps", "nvidia-smi", "xpu-smi ps", "/dev/nvidia*", "/dev/dri/*")
	default:
		return list
	}
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = r.Replace(s)
	}
	return out
}

// comment is a line of shell or Python that says something and does nothing.
func (f *failure) comment(id string, pairs ...any) string { return "# " + f.words.Say(id, pairs...) }
