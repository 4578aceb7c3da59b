package sampler

import (
	"slices"
	"time"
)

// Requests is what a process asked the driver for on one GPU, as the driver's own functions saw it.
type Requests struct {
	Largest       Bytes     `json:"largest_bytes"` // in one piece since the process was seen first, granted or refused
	LargestTime   time.Time `json:"largest_time"`
	LargestRecent Bytes     `json:"largest_recent_bytes"` // the same of the last minute; 0: it asked for nothing
	Granted       int       `json:"granted"`
	Refused       int       `json:"refused"`
	Flushes       int       `json:"flushes"`    // near misses: refused, then granted after it gave memory back
	Live          Bytes     `json:"live_bytes"` // granted and not given back, as it was asked for
	Peak          Bytes     `json:"peak_bytes"` // the most of that
	Whole         bool      `json:"whole"`      // all that it held was seen; else Live and Peak are lower bounds
	// Peak is a lower bound all the same: a thread gave memory back while another was given some, and which came first is not known.
	Overlapping bool `json:"peak_overlapping,omitzero"`
	// Calls were missed, as it called too often for each to be looked at, or too fast, or by functions that are not known: counts are the least there were, and Live is no figure of what it holds.
	Missed  bool     `json:"missed_calls,omitzero"`
	Refusal *Refusal `json:"last_refused"`
	// How the process has ended, as a shell tells it: 0 to 255 by itself, 128 and the
	// signal. Absent: it lives, or nobody knows.
	ExitStatus Opt[int] `json:"exit_status"`
	// When that was; zero: not known. A snapshot that tells of it may be a second younger.
	ExitTime time.Time `json:"exit_time,omitzero"`
}

// ContextMost is more than the context of a process takes, with the libraries that it loads.
const ContextMost = GiB

// Refusal is a request that the driver refused, and what came of it.
type Refusal struct {
	Time     time.Time  `json:"time"`
	Bytes    Bytes      `json:"bytes"`                // the first that was asked for
	Smallest Bytes      `json:"smallest"`             // the least that was refused after it, for who tries again with less
	Free     Opt[Bytes] `json:"free_bytes"`           // on the GPU at that moment; absent: the GPU is not known
	FreeAge  Opt[int]   `json:"free_age_ms,omitzero"` // ms from the reading that Free is from, with all calls since, to the refusal; below 0: it came after that
	// Who else uses the GPU took or gave memory meanwhile by calls that are not looked at: Free is about so much.
	FreeAbout bool     `json:"free_about,omitzero"`
	Function  string   `json:"function"`     // of the driver: "cuMemAlloc_v2"
	GPU       Opt[int] `json:"gpu,omitzero"` // index of the one that is not watched, of a process that has ended
	Tries     int      `json:"tries"`        // refused one after another
	Freed     Bytes    `json:"freed_bytes"`
	Host      Bytes    `json:"host_bytes,omitzero"` // pinned on the host in its place
	Outcome   string   `json:"outcome"`
}

// What came of a refusal.
const (
	RefusalOpen    = ""        // nothing yet
	RefusalFlush   = "flush"   // the same was granted after memory was given back: a near miss
	RefusalGranted = "granted" // the same was granted, for others gave memory back
	RefusalSmaller = "smaller" // less was asked for, and granted
	RefusalOther   = "other"   // memory of another kind was granted: managed, of the host, by another function, or shared by another process
	RefusalLeft    = "exec"    // the process runs another program since
)

// MadeDo says whether the program was content with less, or with memory of another kind.
func (r *Refusal) MadeDo() bool { return r.Outcome == RefusalSmaller || r.Outcome == RefusalOther }

// Request is one request for GPU memory that the driver has answered.
type Request struct {
	Time     time.Time `json:"time"`
	PID      int       `json:"pid"`
	TID      int       `json:"tid,omitzero"`   // the thread; 0: that of the program's begin, or not known
	GPU      Opt[int]  `json:"gpu"`            // index; absent: not known
	UUID     string    `json:"uuid,omitempty"` // of the GPU or MIG instance
	Function string    `json:"function"`
	Bytes    Bytes     `json:"bytes"`
	Answer   int       `json:"answer"`           // CUresult: 0 granted, 2 out of memory
	Took     int       `json:"took_ms,omitzero"` // from the call to Time, in whole ms
}

// Door says how requests are seen. A snapshot without one has no requests.
type Door struct {
	LetGo  []string `json:"let_go"`                   // functions that are called too often to be looked at
	Busy   []Busy   `json:"let_go_of,omitempty"`      // the same of single processes
	Other  []string `json:"other_versions,omitempty"` // functions of some libcuda that are not looked at, for what they take is not known
	Lost   int      `json:"lost_calls"`               // that could not be taken in time
	Untold int      `json:"untold_requests"`          // counted, but left out of Requests: there were too many
	// Unseen is of how many processes first calls were missed: they called before they could be looked at, as others were let go of or their libcuda was
	// new, or ended unheard then.
	Unseen int `json:"unseen_processes,omitzero"`
}

// Busy is a process that calls a function too often for it to be looked at there.
type Busy struct {
	PID      int    `json:"pid"`
	Function string `json:"function"`
}

// Deaf says whether some requests of a process are not seen.
func (d *Door) Deaf(pid int) bool {
	return d != nil && (len(d.LetGo) > 0 || d.Lost > 0 || slices.ContainsFunc(d.Busy, func(b Busy) bool { return b.PID == pid }))
}

// Asking is who sees requests. The Loop tells it what happens meanwhile, from several goroutines.
type Asking interface {
	// Machine takes all GPUs of the machine, watched or not, before anything else.
	Machine(devs []Device)
	// Listed takes the processes of one GPU as the driver listed them until then; took: for so long. Its figures are of some moment meanwhile.
	Listed(gpu GPUKey, at time.Time, took time.Duration, procs []Process)
	// Reading takes each reading of the memory that differs from the one before, and that one: until then it had not moved.
	Reading(gpu GPUKey, at time.Time, used Bytes)
	// ReadUntil takes that all readings until then have been passed on: they come in sweeps, some for as long as a second.
	ReadUntil(at time.Time)
	// Refused has something to receive when a request was refused.
	Refused() <-chan struct{}
	// Alone says whether nobody but that process may have taken memory of a GPU where the driver listed it alone: then what
	// was taken since is its own.
	Alone(gpu GPUKey, pid int) bool
	// Ends says that the next snapshot is the last, which waits for nothing to become known, and whether there is anything to tell in it.
	Ends() bool
	// Apply fills in what is known of the requests: of processes, and those since the snapshot before.
	Apply(s *Snapshot)
}
