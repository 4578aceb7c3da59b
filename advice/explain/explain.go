package explain

// How an explanation comes about, and where to add to it:
//
//	Incident ─ explain_failure.go ─► failure: the facts (amounts, phase, command, footprint)
//	failure ─ cause_*.go ─► causes: a table of rules, each with its condition, confidence and words
//	causes ─ fix_*.go ─► advice: a table of fixes, each with its condition, effect, cost and commands
//	       ─ explain_plan.go ─► plans: several fixes together, with the arithmetic
//	events ─ explain_verdict.go ─► one verdict for the run
//
// A new cause or fix is one row and its words in catalogue_en.go and catalogue_zh.go.

import (
	"slices"
	"strconv"
	"strings"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

// Incident is all that is known of a failed run. Only Events is needed.
type Incident struct {
	Events            []sampler.OOMEvent `json:"events"`
	Command           string             `json:"command"`            // the command line of the job, as typed
	Environment       map[string]string  `json:"environment"`        // its variables that concern memory
	GPUName           string             `json:"gpu_name"`           // "NVIDIA A100-SXM4-80GB"
	ComputeCapability string             `json:"compute_capability"` // "8.0"; empty: taken from the name
	History           *History           `json:"history"`            // from a recording, when there is one
	Histories         []*History         `json:"histories"`          // the same for each event; nil, or too short: History
	Files             []string           `json:"files"`              // the log of each event, where there are several; the events are then in the order of time
	Lang              string             `json:"lang"`               // "en" or "zh"; others give English
}

// History is what a recording shows of the failing process and its card. All amounts are
// those just before the failure unless said otherwise; what was not seen is absent.
type History struct {
	Total        sampler.Opt[sampler.Bytes] `json:"total_bytes"`
	Free         sampler.Opt[sampler.Bytes] `json:"free_bytes"`
	Process      sampler.Opt[sampler.Bytes] `json:"process_bytes"`      // by the failing process
	Unattributed sampler.Opt[sampler.Bytes] `json:"unattributed_bytes"` // used, but by no process the driver names
	Others       []Neighbour                `json:"others"`             // other processes on the card
	Peaks        []sampler.Bytes            `json:"peak_bytes"`         // largest use of the process per stretch (epoch, plateau), oldest first
}

// Neighbour is another process on the card.
type Neighbour struct {
	PID     int           `json:"pid"`
	Bytes   sampler.Bytes `json:"bytes"`
	Name    string        `json:"name"`
	User    string        `json:"user"`
	Command string        `json:"command"`
	Arrived bool          `json:"arrived"` // it came, or grew to this size, after the failing run had started
}

// Explanation says why a run died and what to change. Its JSON form is that of "nvpeak explain --json".
type Explanation struct {
	Schema  int              `json:"schema"`
	Verdict Verdict          `json:"verdict"`
	Events  []Event          `json:"events"`
	Causes  []sampler.Cause  `json:"causes"` // of the run: those of the event that began it
	Advice  []sampler.Advice `json:"advice"`
	Plans   []Plan           `json:"plans"`
	Lang    string           `json:"lang"`
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
	File     string           `json:"file,omitempty"` // the log it is from, where there are several
	Headline string           `json:"headline"`
	Detail   string           `json:"detail"`
	Card     *Card            `json:"card"` // null when the text has too few numbers
	Notes    []string         `json:"notes"`
	Causes   []sampler.Cause  `json:"causes"`
	Advice   []sampler.Advice `json:"advice"`
	Plans    []Plan           `json:"plans"`
}

// Card is how the memory of the GPU was shared out at the moment of failure. The parts add up
// to Total.
type Card struct {
	Total     sampler.Bytes `json:"total_bytes"`
	Allocated sampler.Bytes `json:"allocated_bytes"`
	Holes     sampler.Bytes `json:"holes_bytes"`   // reserved by the allocator, unallocated
	Outside   sampler.Bytes `json:"outside_bytes"` // of the process, outside its allocator
	Others    sampler.Bytes `json:"others_bytes"`  // neither of this process nor free
	Free      sampler.Bytes `json:"free_bytes"`
	Need      sampler.Bytes `json:"need_bytes"` // the refused request; 0 when not known
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

// Explain reasons about the failure of a run. It is pure: the same incident gives the same answer.
func Explain(in Incident) Explanation {
	words := lang.For(in.Lang)
	out := Explanation{Schema: sampler.Schema, Lang: words.Lang, Events: []Event{},
		Causes: []sampler.Cause{}, Advice: []sampler.Advice{}, Plans: []Plan{}}
	failures := make([]*failure, len(in.Events))
	for i, event := range in.Events {
		one := in
		if i < len(in.Histories) && in.Histories[i] != nil {
			one.History = in.Histories[i]
		}
		failures[i] = NewFailure(one, event, words)
		if i < len(in.Files) {
			failures[i].file = in.Files[i]
		}
		failures[i].siblings = in.Events
	}
	for _, f := range failures {
		out.Events = append(out.Events, f.explain())
	}
	out.Verdict = judge(words, failures, out.Events)
	if i := out.Verdict.Event; i >= 0 {
		first := out.Events[i]
		out.Causes, out.Advice, out.Plans = first.Causes, first.Advice, first.Plans
	}
	return out
}

// explain is everything about one event.
func (f *failure) explain() Event {
	causes := f.causes()
	if f.context.NaNLoss && !f.onHost() {
		f.note("note.nan")
	}
	if list := f.environment["CUDA_VISIBLE_DEVICES"]; list != "" && f.event.GPUIndex.Known() && !f.onHost() && !countsAlike(list, f.event.GPUIndex.Or(0)) {
		f.note("note.visible", "gpu", f.event.GPUIndex.Or(0), "list", sampler.Clean(list))
	}
	if f.expandable() && f.holesShare() >= 0.05 {
		f.note("note.expandable_on")
	}
	e := Event{OOMEvent: f.event, File: f.file, Headline: f.headline(), Card: f.card(), Notes: slices.Clone(f.notes),
		Causes: causes, Advice: []sampler.Advice{}, Plans: []Plan{}}
	e.Detail = f.detail(causes)
	if e.Notes == nil {
		e.Notes = []string{}
	}
	if e.OtherProcesses == nil {
		e.OtherProcesses = []sampler.OtherProcess{} // a list in JSON, never null
	}
	if f.event.Recovered {
		return e // an incident that the program mastered: nothing must be changed
	}
	e.Advice = f.Advise(causes)
	e.Plans = f.plans(causes)
	return e
}

// countsAlike: the entry of CUDA_VISIBLE_DEVICES at a place is the number of that place.
func countsAlike(list string, place int) bool {
	entries := strings.Split(list, ",")
	return place >= 0 && place < len(entries) && strings.TrimSpace(entries[place]) == strconv.Itoa(place)
}
