package sampler

import (
	"strconv"
	"strings"
)

// The words of a memory snapshot of PyTorch (torch.cuda.memory._dump_snapshot). Package torchsnap reads them.

// TorchSnapshot is what one file tells.
type TorchSnapshot struct {
	File    string        `json:"file"`
	Read    int64         `json:"read_bytes"` // unpacked
	Cut     string        `json:"cut"`        // where and why reading ended early; empty: it is whole
	Frames  bool          `json:"frames"`     // source lines were recorded
	Conf    string        `json:"alloc_conf"` // PYTORCH_CUDA_ALLOC_CONF
	Devices []TorchDevice `json:"devices"`
}

// TorchDevice is the allocator of one GPU when the snapshot was taken.
type TorchDevice struct {
	Device      int           `json:"device"`
	Segments    int           `json:"segments"`
	Blocks      int           `json:"blocks"`
	Reserved    Bytes         `json:"reserved_bytes"`
	Allocated   Bytes         `json:"allocated_bytes"`
	Requested   Bytes         `json:"requested_bytes"`              // of what is allocated; the rest was rounded up
	Awaiting    Bytes         `json:"awaiting_free_bytes"`          // freed, but a stream may still use it
	Cached      Bytes         `json:"cached_bytes"`                 // in segments that are free as a whole
	Split       Bytes         `json:"split_free_bytes"`             // free between live blocks
	LargestFree Bytes         `json:"largest_free_bytes"`           // block
	PrivateFree Bytes         `json:"private_free_bytes,omitempty"` // of these, in the private pools of CUDA graphs, where nothing else can use them
	Holders     []TorchHolder `json:"holders"`                      // lines by what their live blocks hold, largest first
	Pins        []TorchHolder `json:"pins"`                         // lines by the free bytes of the segments that their blocks keep
	Trace       *TorchTrace   `json:"trace"`                        // null: no history was recorded
	Cut         bool          `json:"cut,omitempty"`                // the file ends early: there may have been more of all of this
}

// TorchSite is a source line that allocated, with what its stack says of why.
type TorchSite struct {
	File       string `json:"file"` // empty: no line was recorded
	Line       int    `json:"line"`
	Function   string `json:"function"`
	Code       string `json:"code"`                 // the line itself, where the file can be read here
	Validation string `json:"validation"`           // the line of the validation it was called from
	Optimizer  bool   `json:"optimizer"`            // it is called by an optimizer
	Module     bool   `json:"module"`               // it is called by a module of torch: the forward pass, mostly
	Generation bool   `json:"generation,omitempty"` // it is called where tokens are generated, or keeps the keys and values of those so far
}

// CodeLength is how much of a source line is kept and shown, in characters: enough to know it by.
const CodeLength = 60

// TorchHolder is a line with bytes that are due to it.
type TorchHolder struct {
	TorchSite
	Bytes  Bytes `json:"bytes"`
	Blocks int   `json:"blocks"`
}

// TorchTrace is the recorded history of a GPU, judged at its last refusal, or at its end where nothing was refused.
type TorchTrace struct {
	Events  int     `json:"events"`
	Seconds float64 `json:"seconds"`
	Steps   int     `json:"steps"` // how often most lines came and went; 0: no pattern
	Peak    Bytes   `json:"peak_bytes"`
	Live    Bytes   `json:"live_bytes"` // at the moment that is judged
	// What the step that was refused memory took above the end of the one before, the refused request included, and the
	// most that steps before it took; 0: not known.
	StepRise  Bytes        `json:"step_rise_bytes,omitempty"`
	StepUsual Bytes        `json:"usual_step_rise_bytes,omitempty"`
	OOMs      int          `json:"ooms"`
	OOM       *TorchOOM    `json:"oom"`
	Last      []TorchEvent `json:"last_events"` // that led up to it
	Curve     []TorchPoint `json:"curve"`
	Lines     []TorchLine  `json:"lines"` // most live bytes first
}

// TorchOOM is a refused request.
type TorchOOM struct {
	T         float64     `json:"t"` // seconds from the first event
	Requested Bytes       `json:"requested_bytes"`
	Free      Opt[Bytes]  `json:"device_free_bytes"`
	Reserved  Bytes       `json:"reserved_bytes"`
	Usual     Bytes       `json:"usual_request_bytes"` // the largest of the same stack, before the last rise of its line; 0: there was none
	Requests  int         `json:"requests"`            // of the same stack
	Site      TorchSite   `json:"site"`
	Stack     []TorchSite `json:"stack"` // innermost first
}

// TorchEvent is one entry of the history.
type TorchEvent struct {
	T      float64   `json:"t"`
	Action string    `json:"action"`
	Bytes  Bytes     `json:"bytes"`
	Site   TorchSite `json:"site"`
}

// TorchPoint is what was allocated over a stretch of the history.
type TorchPoint struct {
	T    float64 `json:"t"`
	Low  Bytes   `json:"low_bytes"`
	High Bytes   `json:"high_bytes"`
}

// TorchLine is what the history shows of a line, at the moment that is judged.
type TorchLine struct {
	TorchSite
	Live     Bytes `json:"live_bytes"`
	Blocks   int   `json:"blocks"`
	Grown    Bytes `json:"grown_bytes"`           // that were never given back, where it rose all along; else 0
	Rise     Bytes `json:"rise_bytes"`            // since it was last low
	Usual    Bytes `json:"usual_rise_bytes"`      // largest rise before that
	Cycles   int   `json:"cycles"`                // how often it rose and fell
	Largest  Bytes `json:"largest_request_bytes"` // before its last rise
	Requests int   `json:"requests"`
	Steps    int   `json:"steps,omitempty"` // over which it has grown; 0: those of the history
	// Caller is the line from which all of the last rise came and none before it: of a line of the model that first ran after
	// the last step, that line itself; else empty.
	Caller string `json:"new_caller"`
}

// Clean makes harmless what somebody else has written: texts without control characters, and counts that can be.
func (d *TorchDevice) Clean() {
	if d == nil {
		return
	}
	d.Device, d.Segments, d.Blocks = max(0, d.Device), max(0, d.Segments), max(0, d.Blocks)
	for _, list := range [][]TorchHolder{d.Holders, d.Pins} {
		for i := range list {
			list[i].clean()
			list[i].Blocks = max(0, list[i].Blocks)
		}
	}
	t := d.Trace
	if t == nil {
		return
	}
	t.Steps, t.OOMs, t.Events = max(0, t.Steps), max(0, t.OOMs), max(0, t.Events)
	for i := range t.Lines {
		l := &t.Lines[i]
		l.clean()
		l.Caller = Clean(l.Caller)
		l.Blocks, l.Cycles, l.Requests, l.Steps = max(0, l.Blocks), max(0, l.Cycles), max(0, l.Requests), max(0, l.Steps)
	}
	for i := range t.Last {
		t.Last[i].Action = Clean(t.Last[i].Action)
		t.Last[i].Site.clean()
	}
	if t.OOM != nil {
		t.OOM.Requests = max(0, t.OOM.Requests)
		t.OOM.Site.clean()
		for i := range t.OOM.Stack {
			t.OOM.Stack[i].clean()
		}
	}
}

func (s *TorchSite) clean() {
	s.File, s.Function, s.Code, s.Validation = Clean(s.File), Clean(s.Function), Clean(s.Code), Clean(s.Validation)
	s.Line = max(0, s.Line)
}

// Python says that it is a line of Python, and no frame of C++ (PyTorch records those too where it is asked to).
func (s TorchSite) Python() bool {
	return strings.HasSuffix(s.File, ".py") || strings.HasPrefix(s.File, "<") || strings.Contains(s.File, "ipykernel")
}

// Place is the line in short: "train.py:210"; empty where none was recorded.
func (s TorchSite) Place() string {
	if s.File == "" {
		return ""
	}
	file := s.File[strings.LastIndexAny(s.File, `/\`)+1:]
	return file + ":" + strconv.Itoa(s.Line)
}
