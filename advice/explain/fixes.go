package explain

import (
	"cmp"
	"nvpeak/sampler"
	"slices"
	"strings"
)

// fixRows is every fix there is, the cheap ones first: order breaks ties.
var fixRows = slices.Concat(fixesOthers, fixesAllocator, fixesValidation, fixesData, fixesBatch, fixesModel, fixesHost, fixesUnknown)

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
	for _, row := range fixRows {
		if f.onHost() != fixesHostMemory(row) || f.corrupt() && row.id != FixRecordRun || !row.when(f) {
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
	return row.fits[CauseHostMemory] > 0 || row.fits[CauseSharedMemory] > 0
}

// chance is how likely a fix is to be enough alone.
func (f *failure) chance(s scored) float64 {
	if s.row.reach != nil {
		return s.row.reach(f)
	}
	if !s.known {
		return 0.85
	}
	if _, known := f.shortfall(); !known {
		return 0.8
	}
	return s.saves.covers(f.needed())
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
	case row.id != FixRaiseLimit && row.id != FixCapPreallocation || f.onHost():
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

// ofVendor names the tools of the maker of the GPU.
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
