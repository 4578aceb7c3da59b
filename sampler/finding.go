package sampler

import "time"

// The words of what samples mean. Package advice makes them; recordings and screens carry them.

// Levels of an alert.
const (
	LevelNotice   = "notice"
	LevelWarning  = "warning"
	LevelCritical = "critical"
)

// Alert is one incident, from when it was raised until it cleared.
type Alert struct {
	ID       string             `json:"id"`  // the same for as long as the alert lives, and of no other
	T        float64            `json:"t"`   // seconds from the start of watching
	End      Opt[float64]       `json:"end"` // absent while open
	Time     time.Time          `json:"time"`
	Host     string             `json:"host,omitempty"` // where it is, of an alert of one machine among others
	GPU      Opt[int]           `json:"gpu"`
	UUID     Opt[string]        `json:"uuid"` // of the GPU or MIG instance
	MIG      *MIG               `json:"mig"`  // which instance of GPU; nil: all of it
	PID      Opt[int]           `json:"pid"`
	Key      GPUKey             `json:"-"` // of GPU; zero for the machine
	Job      string             `json:"-"` // what its processes have in common with those of other GPUs; empty: not known
	Line     string             `json:"-"` // the same for open alerts that are one line of a text; empty: not known
	Level    string             `json:"level"`
	Kind     string             `json:"kind"` // AlertNeed, AlertGrowth, …
	ETA      Opt[float64]       `json:"eta_s"`
	Text     string             `json:"text"`
	Evidence []string           `json:"evidence"`
	Numbers  map[string]float64 `json:"numbers"`
	Advice   []Advice           `json:"advice"`
}

// Label is how its GPU is called, as GPU.Label. An alert of the machine has none.
func (a *Alert) Label() string {
	n, ok := a.GPU.Value()
	if !ok {
		return ""
	}
	return label(n, a.MIG)
}

// Place makes it an alert of a GPU.
func (a *Alert) Place(g *GPU) {
	a.GPU, a.MIG, a.Key = Some(g.Index), g.MIG, g.Key()
	a.UUID = Opt[string]{}
	if g.UUID != "" {
		a.UUID = Some(g.UUID)
	}
}

// Delivery counts what became of the alerts that were to be passed on in one way.
type Delivery struct {
	Way         string         `json:"way"`     // "on-alert", "webhook"
	Sent        int            `json:"sent"`    // alerts
	Failed      int            `json:"failed"`  // alerts that were given up
	Retries     int            `json:"retries"` // tries that were not the first of an alert
	Waiting     int            `json:"waiting"` // alerts not yet sent or given up
	LastError   Opt[string]    `json:"last_error"`
	LastFailure Opt[time.Time] `json:"last_failure"` // when an alert was given up
	LastSent    Opt[time.Time] `json:"last_sent"`
}

// Failing says whether the newest alert was given up.
func (d *Delivery) Failing() bool {
	failed, known := d.LastFailure.Value()
	return known && !d.LastSent.Or(time.Time{}).After(failed)
}

// Range of bytes.
type Range struct {
	Low  Bytes `json:"low"`
	High Bytes `json:"high"`
}

// Cause of an out-of-memory failure or of an alert.
type Cause struct {
	ID         string             `json:"id"`
	Form       string             `json:"form,omitempty"` // what it is here, where that has a name: "checkpoint"
	Confidence float64            `json:"confidence"`     // 0..1
	Evidence   []string           `json:"evidence"`
	Numbers    map[string]float64 `json:"numbers"`
	Site       *TorchSite         `json:"site,omitempty"` // the source line that a memory snapshot shows
}

// Advice is one thing to change, most useful first (Rank 1).
type Advice struct {
	ID     string     `json:"id"`
	Rank   int        `json:"rank"`
	Title  string     `json:"title"`
	Why    string     `json:"why"`
	Do     []string   `json:"do"` // shell or code to apply
	Saves  Opt[Range] `json:"saves_bytes"`
	Cost   string     `json:"cost"`
	Source string     `json:"source"` // URL
	PID    Opt[int]   `json:"-"`      // of the process that it says to stop
}

// OOMEvent is one out-of-memory failure found in a text. Sizes are as printed,
// in bytes; what the text does not say is absent.
type OOMEvent struct {
	Framework           string         `json:"framework"`
	Kind                string         `json:"error_kind"`  // one of ErrorKinds
	MemoryKind          string         `json:"memory_kind"` // MemoryGPU, MemoryHost or MemoryUnknown
	Rank                Opt[int]       `json:"rank"`
	GPUIndex            Opt[int]       `json:"gpu_index"` // as printed: CUDA ordinal, not NVML index
	Requested           Opt[Bytes]     `json:"requested_bytes"`
	GPUTotal            Opt[Bytes]     `json:"gpu_total_bytes"`
	GPUFree             Opt[Bytes]     `json:"gpu_free_bytes"`
	GPUFreeAbout        bool           `json:"gpu_free_about,omitempty"` // GPUFree is about so much: see Refusal.FreeAbout
	ProcessInUse        Opt[Bytes]     `json:"process_in_use_bytes"`
	Allocated           Opt[Bytes]     `json:"allocated_bytes"`
	ReservedUnallocated Opt[Bytes]     `json:"reserved_unallocated_bytes"`
	Reserved            Opt[Bytes]     `json:"reserved_bytes"`
	PrivatePools        Opt[Bytes]     `json:"private_pools_bytes"`
	OtherProcesses      []OtherProcess `json:"other_processes"`
	MemoryLimit         *MemoryLimit   `json:"memory_limit"`
	SelfUnknown         bool           `json:"self_process_unknown"`
	Recovered           bool           `json:"recovered"`
	Again               *OOMEvent      `json:"-"` // the last printing, far from the one before it; only until somebody knows whether the program went on between
	Occurrences         int            `json:"occurrences"`
	PID                 Opt[int]       `json:"pid"`
	Extra               map[string]any `json:"extra"`
	Line                int            `json:"line"` // where it starts, from 1
	Text                string         `json:"text"` // cleaned
	Context             *LogContext    `json:"context"`
	Refused             *RefusedTensor `json:"refused,omitempty"` // the same as the allocator inside the process has told it; nil: it has not
	Held                *TorchDevice   `json:"held,omitempty"`    // by which source lines, told from inside the process; nil: not known
}

// LogContext is what the log around a failure says of the run. Empty or absent: not said.
type LogContext struct {
	Phase            string            `json:"phase"` // PhaseLoading …
	Epoch            Opt[int]          `json:"epoch"`
	Epochs           Opt[int]          `json:"epochs"` // planned
	Step             Opt[int]          `json:"step"`
	FirstStep        bool              `json:"first_step"` // failed before the first training step was over
	Changed          string            `json:"changed"`    // the line just before that announces a setting which takes more memory
	BatchSize        Opt[int]          `json:"batch_size"`
	NaNLoss          bool              `json:"nan_loss"`
	Functions        []string          `json:"functions"` // of the traceback, outermost first
	Code             []string          `json:"code"`      // its source lines, outermost first
	Files            []string          `json:"files"`     // its source files, each once, with the directory they are in
	Parameters       Opt[uint64]       `json:"parameters"`
	Precision        string            `json:"precision"` // fp32, fp16, bf16, int8, nf4
	FrameworkVersion string            `json:"framework_version"`
	Command          string            `json:"command"`     // the command line, if the log holds it
	Environment      map[string]string `json:"environment"` // memory variables, if the log holds them
	GPUName          string            `json:"gpu_name"`
	Server           string            `json:"server"` // the inference server or image tool it is part of: vllm, sglang, tgi, comfyui, webui …
	WorldSize        Opt[int]          `json:"world_size"`
	Told             []string          `json:"told,omitempty"`    // what whoever wrote the text says: ToldGrowth …
	Scripts          []string          `json:"scripts,omitempty"` // that the text names outside of tracebacks
	GPUMemory        []Bytes           `json:"gpu_memory_bytes"`  // the log's own figures per epoch or print, oldest first (GPU_mem, max mem)
	MostAllocated    Opt[Bytes]        `json:"-"`                 // the most that tensors ever held, where these figures are of that
	PoolLimit        Opt[Bytes]        `json:"-"`                 // what the pool may take that TensorFlow or JAX makes at start
	Trained          Opt[uint64]       `json:"-"`                 // of the parameters, as far as that is said
	Optimizer        string            `json:"-"`                 // as the log names it: adamw_bnb_8bit, sgd …
	GlobalBatch      Opt[int]          `json:"-"`                 // samples of all GPUs together, and of all steps that accumulate
	Replicas         Opt[int]          `json:"-"`                 // of the model, where that is not the world size
	Trials           Opt[int]          `json:"-"`                 // of a search for settings, that this process had finished
	Fold             Opt[int]          `json:"-"`                 // of a cross-validation, that had begun
	TrainedContext   Opt[int]          `json:"-"`                 // tokens of context that the model was trained with
	Resumed          bool              `json:"-"`                 // its steps and epochs go on from those of a run before
	Spilled          Opt[Bytes]        `json:"-"`                 // what a worker says that it has moved from the GPU to RAM
	Larger           *SizeGrowth       `json:"-"`                 // the size of a step that the log prints and that rose most; nil: none did
	Counted          *SizeGrowth       `json:"-"`                 // the number of things kept on the GPU that the log prints and that rose most; nil: none did
	Full             *SizeGrowth       `json:"-"`                 // what the log says is kept up to a limit (Of), and has been at it for long; nil: nothing is
	Beyond           *SizeGrowth       `json:"-"`                 // how far the log says that the piece of work came that failed, where that is far beyond all before; nil: it is not
	Slowdown         float64           `json:"-"`                 // how many times as long as at first a step took in the end, by the log; 0: not known
}

// SizeGrowth is a figure for the size of a step that rose, as a log prints it: "cells", from one number to another.
type SizeGrowth struct {
	Name     string
	From, To float64
	Of       float64 // to which it is counted, where the log says so; else 0
	Unit     string  // of memory, lower case; "": they are numbers of things
}

// OtherProcess is a "Process N has X memory in use" clause.
type OtherProcess struct {
	PID   int   `json:"pid"`
	Bytes Bytes `json:"bytes"`
}

// MemoryLimit is a limit that was in force below the size of the GPU.
type MemoryLimit struct {
	Kind     string       `json:"kind"`
	Allowed  Opt[Bytes]   `json:"allowed_bytes"`
	Fraction Opt[float64] `json:"fraction"`
}
