package explain

import "nvpeak/sampler"

const (
	// alikeLeast requests of one size, over alikeSeconds in which it computed for half the time, are no start: what loads a model
	// computes nothing meanwhile. On an H100 a simulation took 1 GiB every second step, 76 times in 5 s (testdata/h100, 27).
	alikeLeast   = 16
	alikeSeconds = 3
)

// asksAlike: requests of one size were granted again and again, kept, and computed with, until one was refused. Allocators ask for segments of one size,
// too: whose memory one manages, the message or its own figures tell.
func (f *facts) asksAlike() *Alike {
	if f.history == nil || f.event.Kind != sampler.KindRefused || f.event.Framework != "" && f.event.Framework != "cuda" || f.allocated.Known() {
		return nil
	}
	a := f.history.Alike
	if a == nil || a.Count < alikeLeast || a.Seconds < alikeSeconds || a.Computed < a.Seconds/2 {
		return nil
	}
	return a
}

var causesAlike = []causeRow{
	{id: "alike", cause: CauseLeak, reason: sourceAnatomy,
		when:       func(f *failure) bool { return f.asksAlike() != nil },
		confidence: func(f *failure) float64 { return f.unlessOthers(0.8) },
		evidence: func(f *failure) string {
			a := f.asksAlike()
			return f.words.Say("why.alike", "count", a.Count, "size", printed(a.Bytes), "span", f.words.Span(a.Seconds))
		}},
}

var fixesAlike = []fixRow{
	{id: FixLeak, source: "https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__MEMORY.html",
		kinds: ownCode | running, cost: 0.02,
		lives:   map[string]float64{CauseLeak: 0.98},
		when:    func(f *failure) bool { return f.asksAlike() != nil },
		reach:   always(1),
		variant: func(f *failure) string { return "alike" },
		pairs:   func(f *failure) []any { return []any{"size", printed(f.asksAlike().Bytes)} },
		do: func(f *failure) []string {
			return []string{"cudaFree(buffer)  " + f.comment("do.free_each"), f.comment("do.once_before")}
		}},
}
