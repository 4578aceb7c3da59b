package cli

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"nvpeak/advice/lang"
	"nvpeak/advice/retry"
	"nvpeak/sampler"
)

// tryPeak folds the snapshots of a try into what it took of each GPU.
type tryPeak struct {
	mu   sync.Mutex
	gpus map[string]*gpuPeak // by UUID, or else label
	ours map[int]bool        // pids: whether a process is the command's
	last *sampler.Snapshot

	refused bool // the driver refused the command memory
}

// gpuPeak is the peak of one GPU over a try.
type gpuPeak struct {
	label string
	total sampler.Bytes
	high  sampler.Bytes // by whomever
	own   sampler.Bytes // of the command, by the driver or its allocator; 0: none of it was seen
}

// saw takes a snapshot.
func (p *tryPeak) saw(s *sampler.Snapshot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gpus == nil {
		p.gpus, p.ours = map[string]*gpuPeak{}, map[int]bool{}
	}
	p.last = s
	for i := range s.GPUs {
		gpu := &s.GPUs[i]
		name := gpu.UUID
		if name == "" {
			name = gpu.Label()
		}
		g := p.gpus[name]
		if g == nil {
			g = &gpuPeak{label: gpu.Label()}
			p.gpus[name] = g
		}
		g.add(gpu, p.own(gpu.Processes))
	}
}

func (g *gpuPeak) add(gpu *sampler.GPU, own sampler.Bytes) {
	g.total = max(g.total, gpu.Memory.PlausibleTotal().Or(0))
	high := gpu.Memory.Used.Or(0)
	if w := gpu.Memory.Window; w != nil {
		high = max(high, w.Max)
	}
	g.high, g.own = max(g.high, high), max(g.own, own)
}

// own is what the processes of the command hold of a GPU, at the most.
func (p *tryPeak) own(list []sampler.Process) (sum sampler.Bytes) {
	for _, q := range list {
		if !q.Visible || !p.isOurs(&q) {
			continue
		}
		p.refused = p.refused || q.Requests != nil && q.Requests.Refused > 0
		held := q.Memory.Or(0)
		if q.Peak != nil {
			held = max(held, q.Peak.Bytes)
		}
		if q.Allocator != nil {
			held = max(held, q.Allocator.PeakReserved)
		}
		sum += held
	}
	return sum
}

// wasRefused says whether the driver refused the command memory.
func (p *tryPeak) wasRefused() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refused
}

// seesRequests says whether requests are seen.
func (p *tryPeak) seesRequests() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last != nil && p.last.Door != nil
}

// saysOurs says of a process that may have ended whether it was the command's.
func (p *tryPeak) saysOurs(pid int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ours[pid]
}

// isOurs says whether a process is the command's. Of one that has ended its parents are known as it was met.
func (p *tryPeak) isOurs(q *sampler.Process) bool {
	ours, known := p.ours[q.PID]
	if !known {
		self := os.Getpid()
		ours = descends(q.PID, self) || slices.ContainsFunc(q.Parents, func(up sampler.Parent) bool { return up.PID == self })
		p.ours[q.PID] = ours
	}
	return ours
}

// descends says whether a process was started by another, or by one that it has started.
func descends(pid, from int) bool {
	for range 64 {
		if pid == from {
			return true
		}
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if err != nil || len(fields) < 2 {
			return false
		}
		if pid, err = strconv.Atoi(fields[1]); err != nil || pid <= 1 {
			return false
		}
	}
	return false
}

// largestOwn is the GPU of which the command took most; empty: none was seen.
func (p *tryPeak) largestOwn() (name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	most := sampler.Bytes(0)
	for n, g := range p.gpus {
		if g.own > most {
			name, most = n, g.own
		}
	}
	return name
}

// peakFigures compare the peaks of two tries.
type peakFigures struct {
	gpu           string
	own           bool // of the command, not of the whole GPU
	before, after sampler.Opt[sampler.Bytes]
	left, total   sampler.Bytes
}

// comparePeaks takes the GPU of which the last try took most; where none of its processes was seen, the one that it
// was given, or that on which the try before died.
func comparePeaks(tries []*try) (f peakFigures) {
	now, died := tries[len(tries)-1], tries[len(tries)-2]
	name := now.watched.peak.largestOwn()
	f.own = name != ""
	if name == "" {
		name = now.given()
	}
	if name == "" && died.watched.peak.last != nil {
		name = died.failedGPU(died.watched.peak.last)
	}
	g := now.watched.peak.gpus[name]
	if g == nil || g.high == 0 { // it had ended before anything was read
		return f
	}
	f.gpu, f.total, f.left = g.label, g.total, g.total.Less(g.high)
	before := &tries[0].watched.peak
	if !f.own {
		f.after = sampler.Some(g.high)
		if old := before.gpus[name]; old != nil && old.high > 0 && now.given() == "" {
			f.before = sampler.Some(old.high)
		}
		return f
	}
	f.after, f.before = sampler.Some(g.own), tries[0].held()
	if old := before.gpus[before.largestOwn()]; old != nil {
		f.before = sampler.Some(max(old.own, f.before.Or(0)))
	}
	return f
}

// given is the GPU that a try was given alone; empty: none.
func (t *try) given() string {
	mask, _ := retry.Get(t.env, retry.VisibleDevices)
	if t.watched.peak.gpus[mask] == nil {
		return ""
	}
	return mask
}

// held is what a try that died held, as it said itself.
func (t *try) held() (held sampler.Opt[sampler.Bytes]) {
	if t.why != nil && t.why.Verdict.Event >= 0 {
		e := t.why.Events[t.why.Verdict.Event]
		return e.ProcessInUse.Else(e.Allocated)
	}
	return held
}

// say says them.
func (f *peakFigures) say(words lang.Catalog) string {
	after, known := f.after.Value()
	if !known {
		return words.Say("retry.no_peak")
	}
	pairs := []any{"gpu", f.gpu, "after", after, "left", f.left.Few(), "total", f.total, "before", f.before.Or(0)}
	switch {
	case f.own && f.before.Known():
		return words.Say("retry.peaks", pairs...)
	case f.own:
		return words.Say("retry.peak", pairs...)
	case f.before.Known():
		return words.Say("retry.gpu_peaks", pairs...)
	}
	return words.Say("retry.gpu_peak", pairs...)
}
