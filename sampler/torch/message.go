package torch

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"nvpeak/sampler"
)

// version of the lines. Fields may be added under the same number.
const version = 1

// Bounds of what is believed.
const (
	maxDevice = 63      // ordinal
	maxCount  = 1 << 40 // retries, failures
	maxText   = 1000    // bytes of a name
	maxAgo    = time.Hour
)

// figure is a number of bytes or of events that can be. What cannot is absent and harms no other.
type figure struct{ sampler.Opt[sampler.Bytes] }

func (f *figure) UnmarshalJSON(b []byte) error {
	f.Opt = sampler.Opt[sampler.Bytes]{}
	if n, err := strconv.ParseUint(string(b), 10, 64); err == nil && sampler.Bytes(n) < sampler.MaxPlausible {
		f.Opt = sampler.Some(sampler.Bytes(n))
	}
	return nil
}

// atMost is the figure if it is not above that.
func (f figure) atMost(most sampler.Bytes) sampler.Opt[sampler.Bytes] {
	if v, ok := f.Value(); ok && v <= most {
		return f.Opt
	}
	return sampler.Opt[sampler.Bytes]{}
}

func (f figure) count() int { return int(f.atMost(maxCount).Or(0)) }

func (f figure) milliseconds(most time.Duration) time.Duration {
	return time.Duration(min(f.Or(0), sampler.Bytes(most/time.Millisecond))) * time.Millisecond
}

// message is one line of a reporter.
type message struct {
	Version       int     `json:"v"`
	Device        figure  `json:"device"`
	UUID          string  `json:"uuid"` // as torch knows it; empty: not
	PCI           string  `json:"pci"`
	Visible       *string `json:"visible"` // CUDA_VISIBLE_DEVICES, as the program sees it
	Order         *string `json:"order"`   // CUDA_DEVICE_ORDER
	Next          figure  `json:"next_ms"` // when there will be another line
	Allocated     figure  `json:"allocated"`
	Reserved      figure  `json:"reserved"`
	Split         figure  `json:"split"`
	Largest       figure  `json:"largest"`
	Retries       figure  `json:"retries"`
	OOMs          figure  `json:"ooms"`
	PeakAllocated figure  `json:"peak_allocated"`
	PeakReserved  figure  `json:"peak_reserved"`
	OOM           *oom    `json:"oom"`
	Lines         *lines  `json:"lines"`  // nil: it is about something else
	Run           string  `json:"run"`    // the monitors whose reporter it is, by the names of their sockets
	Lacks         string  `json:"lacks"`  // why no lines are told that were asked for; empty: nothing is wrong
	Why           string  `json:"why"`    // what PyTorch says of it
	Misses        string  `json:"misses"` // what the allocator does not tell: see Lack
	Missed        string  `json:"missed"` // why, or the seconds that a reading takes
	Torch         string  `json:"torch"`  // version of PyTorch, where it lacks something
}

// oom is the newest tensor that was refused.
type oom struct {
	Number    figure `json:"n"` // of this process and device, from 1
	Ago       figure `json:"ago_ms"`
	Size      figure `json:"size"`
	Free      figure `json:"free"`
	Allocated figure `json:"allocated"`
	Reserved  figure `json:"reserved"`
	Largest   figure `json:"largest"`
	Split     figure `json:"split"`
	Whole     figure `json:"whole"`
}

var errMessage = errors.New("no report of an allocator")

// parse reads a line. It is an error if there is no telling what it is about.
func parse(b []byte) (m message, err error) {
	if err := json.Unmarshal(b, &m); err != nil {
		return message{}, err
	}
	texts := []string{m.Run, m.Lacks, m.Misses, m.Missed, m.Torch, m.Why, m.UUID, m.PCI}
	for _, value := range []*string{m.Visible, m.Order} {
		if value != nil {
			texts = append(texts, *value)
		}
	}
	long := slices.ContainsFunc(texts, func(text string) bool { return len(text) > maxText })
	if m.Version != version || !m.Device.atMost(maxDevice).Known() || long {
		return message{}, errMessage
	}
	return m, nil
}

// allocator is what the line says of the allocator; nil: nothing that can be.
func (m *message) allocator() *sampler.Allocator {
	reserved, ok := m.Reserved.Value()
	allocated, fits := m.Allocated.atMost(reserved).Value()
	if !ok || !fits {
		return nil
	}
	free := reserved - allocated
	return &sampler.Allocator{Allocated: allocated, Reserved: reserved, Unallocated: free,
		InactiveSplit: m.Split.atMost(free).Or(0), LargestFree: m.Largest.atMost(free),
		Retries: m.Retries.count(), OOMs: m.OOMs.count(),
		PeakAllocated: max(allocated, m.PeakAllocated.Or(0)), PeakReserved: max(reserved, m.PeakReserved.Or(0))}
}

// refused is the failure that the line tells of, which was received then; nil: none.
func (o *oom) refused(at time.Time) *sampler.RefusedTensor {
	size, ok := o.Size.Value()
	if !ok || o.Number.Or(0) == 0 {
		return nil
	}
	r := &sampler.RefusedTensor{Time: at.Add(-o.Ago.milliseconds(maxAgo)).Truncate(time.Millisecond), Requested: size, GPUFree: o.Free.Opt}
	if reserved, known := o.Reserved.Value(); known && o.Allocated.atMost(reserved).Known() {
		r.Allocated, r.Reserved = o.Allocated.Opt, o.Reserved.Opt
	}
	// The blocks were looked at in one go: they have to agree with each other, and with what is reserved.
	free := r.Reserved.Or(sampler.MaxPlausible) - r.Allocated.Or(0)
	split, whole := o.Split.atMost(free), o.Whole.atMost(free)
	if sum := split.Or(0) + whole.Or(0); split.Known() && whole.Known() && sum <= free && o.Largest.atMost(sum).Known() {
		r.LargestFree, r.InactiveSplit, r.FreeSegments = o.Largest.Opt, split, whole
	}
	return r
}
