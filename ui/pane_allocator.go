package ui

import (
	"nvpeak/advice/explain"
	"nvpeak/sampler"
	"nvpeak/theme"
)

// allocatorLines say what the allocator inside the process tells: what it holds, what is free of that and in how large
// blocks, and the last tensor that it refused, with what was measured of fragmentation then.
func (v *view) allocatorLines(a *sampler.Allocator, line func(id, text string, role theme.Role)) {
	if a == nil {
		return
	}
	line("proc.allocator", v.words.Say("proc.allocated", "allocated", a.Allocated, "reserved", a.Reserved, "retries", a.Retries, "refused", a.OOMs), theme.Text)
	comma := v.words.Say("list.comma")
	text := v.words.Say("proc.unallocated", "size", a.Unallocated)
	if a.InactiveSplit > 0 {
		text += comma + v.words.Say("proc.split", "size", a.InactiveSplit)
	}
	if largest, ok := a.LargestFree.Value(); ok {
		text += comma + v.words.Say("proc.largest_free", "size", largest)
	}
	line("proc.free_inside", text, theme.Text)
	r := a.LastOOM
	if r == nil {
		return
	}
	text = v.words.Say("proc.refused_at", "size", r.Requested.Needed(), "ago", v.ago(v.now().Sub(r.Time)))
	if free, ok := r.GPUFree.Value(); ok {
		text = v.words.Say("proc.refused_free", "text", text, "free", free.Few())
	}
	if measured := explain.MeasuredText(r, v.words); measured != "" {
		text += v.words.Say("list.semicolon") + measured
	}
	line("proc.refused_tensor", text, theme.Warning)
}
