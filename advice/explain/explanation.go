package explain

import "nvpeak/sampler"

// Explanation says why a run died and what to change. Its JSON form is that of "nvpeak explain --json".
type Explanation struct {
	Schema    int                     `json:"schema"`
	Verdict   Verdict                 `json:"verdict"`
	Events    []Event                 `json:"events"`
	Causes    []sampler.Cause         `json:"causes"` // of the run: those of the event that began it
	Advice    []sampler.Advice        `json:"advice"`
	Plans     []Plan                  `json:"plans"`
	Omitted   int                     `json:"omitted_events,omitempty"` // further events, which are only counted
	Snapshots []sampler.TorchSnapshot `json:"snapshots,omitempty"`      // memory snapshots of PyTorch, as they were read
	Lang      string                  `json:"lang"`
}

// Verdict is the whole run in one or two sentences.
type Verdict struct {
	Headline  string           `json:"headline"`
	Detail    string           `json:"detail"` // the arithmetic, or why nothing can be said
	Event     int              `json:"event"`  // index into Events of the one that began it; -1: none
	FirstRank sampler.Opt[int] `json:"first_rank"`
	Victims   []int            `json:"victims"`     // indices into Events: consequences of the first
	AlsoHit   []int            `json:"also_failed"` // indices: ranks that met the same wall on their own
	Recovered bool             `json:"recovered"`   // nothing died
	Run       string           `json:"run"`         // who failed first, when there are several events
}

// Event is an event with what can be said of it.
type Event struct {
	sampler.OOMEvent
	File     string               `json:"file,omitempty"` // the log it is from, where there are several
	GPU      sampler.Opt[int]     `json:"gpu,omitzero"`   // where it failed as nvidia-smi counts, if that is known and the message has another number
	Headline string               `json:"headline"`
	Detail   string               `json:"detail"`
	Beyond   string               `json:"-"`    // Detail without what was asked for and what was free; "" where it says more of that
	Torch    *sampler.TorchDevice `json:"-"`    // its GPU in a memory snapshot of PyTorch; nil: there is none
	Card     *Card                `json:"card"` // null when the text has too few numbers
	Notes    []string             `json:"notes"`
	Causes   []sampler.Cause      `json:"causes"`
	Advice   []sampler.Advice     `json:"advice"`
	Plans    []Plan               `json:"plans"`
}

// Card is how the memory of the GPU was shared out at the moment of failure. The parts add up
// to Total.
type Card struct {
	Total       sampler.Bytes `json:"total_bytes"`
	Allocated   sampler.Bytes `json:"allocated_bytes"`
	Unallocated sampler.Bytes `json:"holes_bytes"`   // reserved by the allocator
	Outside     sampler.Bytes `json:"outside_bytes"` // of the process, outside its allocator
	Others      sampler.Bytes `json:"others_bytes"`  // neither of this process nor free
	Free        sampler.Bytes `json:"free_bytes"`
	Need        sampler.Bytes `json:"need_bytes"` // the refused request; 0 when not known
	// Beyond is what the text counts of Allocated and Unallocated that the GPU has no room for: system memory, or figures of different moments.
	Beyond sampler.Bytes `json:"beyond_bytes,omitempty"`
	// OutsideKnown is false when the text does not tell Outside and Others apart: both are in Others.
	OutsideKnown bool `json:"outside_known"`
}

// Plan is several steps together, for failures that one step does not cure.
type Plan struct {
	Name       string        `json:"name"` // A, B, C
	Steps      []string      `json:"steps"`
	Title      string        `json:"title"`
	Arithmetic string        `json:"arithmetic"`
	Peak       sampler.Range `json:"peak_bytes"` // expected use of the process' allocator
	Room       sampler.Bytes `json:"room_bytes"` // what it can have
	Enough     string        `json:"enough"`     // yes, likely, no
}
