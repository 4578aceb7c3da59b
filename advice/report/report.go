package report

import (
	"time"

	"nvpeak/advice/explain"
	"nvpeak/advice/watch"
	"nvpeak/sampler"
)

// Report says what happened in a recording. Its JSON form is that of "nvpeak report --json".
// Times "t" and "end" are seconds from Start.
type Report struct {
	Schema    int              `json:"schema"`
	Source    string           `json:"source"` // name of the file
	Host      string           `json:"host"`
	Driver    string           `json:"driver"`
	Start     Moment           `json:"start"` // of the first snapshot
	End       Moment           `json:"end_time"`
	Duration  float64          `json:"duration_s"`
	Snapshots int              `json:"snapshots"`
	Interval  float64          `json:"interval_s"`         // usual time between snapshots
	Unseen    float64          `json:"unseen_s,omitempty"` // of Duration, from which nothing was recorded
	Headline  string           `json:"headline"`
	Detail    string           `json:"detail"`
	Failed    *Failed          `json:"failed,omitempty"` // whose failure Headline is about; nil: it is about none, or nobody knows
	GPUs      []GPU            `json:"gpus"`
	Processes []Process        `json:"processes"` // the largest peak first
	Alerts    []sampler.Alert  `json:"alerts"`    // as the live monitor would have raised them, oldest first
	Events    []Event          `json:"events"`    // oldest first
	Phases    []Phase          `json:"phases"`    // from the training log
	Readings  []Allocator      `json:"allocator_readings"`
	Causes    []sampler.Cause  `json:"causes"`
	Advice    []sampler.Advice `json:"advice"`
	Lang      string           `json:"lang"`
	Notes     []string         `json:"notes"` // what was wrong with the recording or the log
}

// TooShort says whether so little was recorded that nothing found tells nothing: not even whether
// memory grows.
func (r *Report) TooShort() bool { return r.Duration < growthLeast }

// Peak is a peak with its place on the timeline.
type Peak struct {
	sampler.Peak
	T float64 `json:"t"`
}

// Failed is when a failure was and, as far as that is known, of which process.
type Failed struct {
	T       float64   `json:"t"`
	Time    time.Time `json:"time"`
	PID     int       `json:"pid"` // 0: not known
	Command string    `json:"command"`
}

// GPU is what a recording tells of one GPU. What was not seen is absent.
type GPU struct {
	Index         int                        `json:"index"`
	Label         string                     `json:"label"` // "3", or "3:1" for a MIG instance
	UUID          string                     `json:"uuid"`
	Name          string                     `json:"name"`
	Total         sampler.Opt[sampler.Bytes] `json:"total_bytes"`
	Reserved      sampler.Opt[sampler.Bytes] `json:"reserved_bytes"`
	Peak          *Peak                      `json:"peak"`
	Mean          sampler.Opt[sampler.Bytes] `json:"mean_bytes"`    // over the whole recording
	Typical       sampler.Opt[sampler.Bytes] `json:"typical_bytes"` // median while something ran
	WorstFree     sampler.Opt[sampler.Bytes] `json:"worst_free_bytes"`
	FreeTypical   sampler.Opt[sampler.Bytes] `json:"free_typical_bytes"`
	FreeAtPeak    sampler.Opt[sampler.Bytes] `json:"free_at_peak_bytes"`
	FreeAfterExit sampler.Opt[sampler.Bytes] `json:"free_after_exit_bytes"`
	Growth        sampler.Opt[float64]       `json:"growth_bytes_per_hour"`  // robust slope of the longest job; absent when it was too short
	EpochGrowth   sampler.Opt[float64]       `json:"growth_bytes_per_epoch"` // of the peaks per epoch
	Spikes        []Spike                    `json:"spikes"`                 // the largest, by time
	SpikeCount    int                        `json:"spike_count"`
	Holders       []Holder                   `json:"holders_at_peak"` // largest first
	Plot          []Point                    `json:"-"`
}

// Spike is memory that was taken and given back.
type Spike struct {
	T        float64       `json:"t"`
	Bytes    sampler.Bytes `json:"bytes"` // above the level it came back to
	Peak     sampler.Bytes `json:"peak_bytes"`
	Duration float64       `json:"duration_s"`
	// Unseen are the seconds of Duration from which nothing was recorded: it lasted that much less at least.
	Unseen float64 `json:"unseen_s,omitempty"`
}

// Holder is who held memory at the peak; PID 0 is memory that no listed process held.
type Holder struct {
	PID   int           `json:"pid"`
	User  string        `json:"user"`
	Name  string        `json:"name"`
	Bytes sampler.Bytes `json:"bytes"`
}

// Point is one stretch of a plot: the least and most used memory in it.
type Point struct {
	T, Low, High float64 // seconds, bytes
}

// Process is one process on one GPU.
type Process struct {
	GPU     int                        `json:"gpu"`
	Label   string                     `json:"gpu_label"`
	PID     int                        `json:"pid"`
	Start   sampler.Opt[time.Time]     `json:"start_time"`
	User    string                     `json:"user"`
	Name    string                     `json:"name"`
	Command string                     `json:"command"`
	Type    string                     `json:"type"`
	First   float64                    `json:"first_t"` // first seen
	Last    float64                    `json:"last_t"`  // last seen
	Exited  bool                       `json:"exited"`  // it was gone before the recording ended
	Peak    *Peak                      `json:"peak"`
	Mean    sampler.Opt[sampler.Bytes] `json:"mean_bytes"`
	AtPeak  sampler.Opt[sampler.Bytes] `json:"at_gpu_peak_bytes"` // what it held when its GPU was fullest
	AtExit  sampler.Opt[sampler.Bytes] `json:"last_bytes"`
	// Requests are what it asked the driver for, by the newest snapshot that has it; nil: nobody listened.
	Requests *sampler.Requests `json:"requests,omitempty"`
	Plot     []Point           `json:"-"`
	gpuKey   sampler.GPUKey
}

// Event is something that happened at one moment.
type Event struct {
	T        float64              `json:"t"`
	Time     time.Time            `json:"time"`
	Kind     string               `json:"kind"` // oom, process_start, process_end, xid, gpu_lost, gpu_back, gap, …
	GPU      sampler.Opt[int]     `json:"gpu"`  // as the driver numbers GPUs
	PID      sampler.Opt[int]     `json:"pid"`
	XID      sampler.Opt[uint64]  `json:"xid"`
	Duration sampler.Opt[float64] `json:"duration_s"`
	Text     string               `json:"text"`
	From     string               `json:"from"` // recording, log, snapshots, driver
	OOM      *sampler.OOMEvent    `json:"oom"`
}

// Phase is a stretch of the run that its log tells of.
type Phase struct {
	Kind string                     `json:"kind"` // training, epoch, validation, saving
	N    sampler.Opt[int]           `json:"n"`    // number of the epoch, as printed
	T    float64                    `json:"t"`
	End  float64                    `json:"end"`
	Peak sampler.Opt[sampler.Bytes] `json:"peak_bytes"` // most used of any GPU in it
}

// Allocator is a reading of its allocator that the run printed.
type Allocator struct {
	T         float64                    `json:"t"`
	GPU       sampler.Opt[int]           `json:"gpu"` // as printed: CUDA ordinal
	Allocated sampler.Opt[sampler.Bytes] `json:"allocated_bytes"`
	Reserved  sampler.Opt[sampler.Bytes] `json:"reserved_bytes"`
}

// Options of a Reporter. The zero value is good.
type Options struct {
	Source    string
	Need      sampler.Opt[sampler.Bytes] // what the user typed, as for a Watch
	Lang      string                     // of its sentences; empty: English
	Log       string                     // of the training, as people would name it; empty: there is none
	Levels    watch.Levels               // that somebody has set: alerts tell when they are reached
	Explained *explain.Explanation       // why the run died, as was said at its end with all that was known then; nil: nobody did
	Outline   bool                       // only Exits and the span are wanted: no alerts, no causes
}

const (
	maxReportSpikes    = 200
	maxReportProcesses = 1000
	maxReportEvents    = 5000
	maxReportAlerts    = 5000
)
