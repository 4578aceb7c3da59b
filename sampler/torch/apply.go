package torch

import (
	"maps"
	"slices"
	"strings"
	"time"

	"nvpeak/sampler"
)

// silent is after how long a process that says nothing is forgotten.
const silent = 10 * time.Minute

// Apply fills in what allocators report of themselves. A process that the driver does not list gets a row: in a
// container and under WSL it lists none.
func (r *Receiver) Apply(s *sampler.Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.processes) == 0 {
		return
	}
	b := board{Snapshot: s, ordinals: sampler.NewOrdinals(s), listed: map[int][]sampler.GPUKey{}, who: map[int]sampler.Process{}}
	for i := range s.GPUs {
		for _, q := range s.GPUs[i].Processes {
			if q.Visible { // else its pid may be that of another here
				b.listed[q.PID], b.who[q.PID] = append(b.listed[q.PID], s.GPUs[i].Key()), q
			}
		}
	}
	for _, pid := range slices.Sorted(maps.Keys(r.processes)) {
		r.apply(&b, pid)
	}
}

// board is a snapshot that is being filled in.
type board struct {
	*sampler.Snapshot
	ordinals sampler.Ordinals
	listed   map[int][]sampler.GPUKey // where the driver lists a process
	who      map[int]sampler.Process  // those
}

func (r *Receiver) apply(b *board, pid int) {
	p, newest := r.processes[pid], time.Time{}
	known, listed := b.who[pid]
	if !listed {
		known = r.identify(pid)
	}
	gone := !known.Visible
	if known.Visible && p.who.Visible && !known.StartTime.Equal(p.who.StartTime) { // the pid is another's now
		delete(r.processes, pid)
		return
	}
	if known.Visible {
		known.Memory, known.Peak, known.Requests, known.Allocator = sampler.Opt[sampler.Bytes]{}, nil, nil, nil // of one GPU
		p.who = known
	}
	taken := map[sampler.GPUKey]bool{}
	for _, device := range slices.Sorted(maps.Keys(p.seats)) {
		seat := p.seats[device]
		if seat.at.After(newest) {
			newest = seat.at
		}
		if gone && (seat.refused == nil || seat.told) {
			continue // the last words of the dead are told once
		}
		key := b.place(p, seat)
		if g := b.Find(key); g != nil && key != (sampler.GPUKey{}) && !taken[key] && !g.Silent() {
			taken[key] = b.fill(g, p, seat)
		}
	}
	if age := b.Time.Sub(newest); age > silent || gone && age > fresh {
		delete(r.processes, pid)
	}
}

// place is the GPU of a seat; the zero key: not known.
func (b *board) place(p *process, s *seat) (key sampler.GPUKey) {
	if named, key := b.named(s); named {
		return key
	}
	on := b.listed[p.who.PID]
	who := p.who
	who.Environment = s.environment(&p.who)
	key = b.ordinals.Key(&who, s.device)
	switch {
	case key != sampler.GPUKey{} && (len(on) == 0 || slices.Contains(on, key)):
		return key
	case len(p.seats) > 1:
		return sampler.GPUKey{}
	case len(on) == 1:
		return on[0]
	case len(on) == 0:
		return b.ordinals.Only()
	}
	return sampler.GPUKey{}
}

// named finds the GPU by what torch calls it. If there is a name, no number counts.
func (b *board) named(s *seat) (named bool, key sampler.GPUKey) {
	uuid := strings.TrimPrefix(strings.TrimPrefix(s.name.UUID, "GPU-"), "MIG-")
	if !isUUID(uuid) && s.name.PCI == "" {
		return false, key
	}
	var found []sampler.GPUKey
	for _, g := range b.Assignable() {
		same := isUUID(uuid) && (strings.EqualFold(g.UUID, "GPU-"+uuid) || strings.EqualFold(g.UUID, "MIG-"+uuid))
		if g.Host == "" && (same || !isUUID(uuid) && strings.EqualFold(g.PCI, s.name.PCI)) {
			found = append(found, g.Key())
		}
	}
	if len(found) == 1 {
		key = found[0]
	}
	return true, key
}

// isUUID says whether a text has the form 8-4-4-4-12 of hexadecimal digits, not all of them 0.
func isUUID(text string) bool {
	if len(text) != 36 || strings.Trim(text, "0-") == "" {
		return false
	}
	for i, c := range []byte(text) {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (c == '-') || !dash && !strings.ContainsRune("0123456789abcdefABCDEF", rune(c)) {
			return false
		}
	}
	return true
}

// fill gives the process's row on a GPU what its allocator reports, and says whether there was something to give.
func (b *board) fill(g *sampler.GPU, p *process, s *seat) bool {
	total := g.Memory.PlausibleTotal()
	p.over = p.over || s.allocator != nil && s.allocator.Reserved > total.Or(sampler.MaxPlausible)
	a := s.reading(b.Time, total)
	if a == nil {
		return false
	}
	i := slices.IndexFunc(g.Processes, func(q sampler.Process) bool { return q.PID == p.who.PID && q.Visible == p.who.Visible })
	if i < 0 {
		row := p.who
		row.Type = "compute"
		g.Processes, i = append(g.Processes, row), len(g.Processes)
	}
	row := &g.Processes[i]
	if row.StartTime.Contradicts(p.who.StartTime) {
		return false
	}
	row.Allocator = a
	if peak := row.Peak; s.peak > 0 && s.peak <= g.Memory.PlausibleTotal().Or(s.peak) && (peak == nil || s.peak > peak.Bytes) {
		row.Peak = &sampler.Peak{Bytes: s.peak, Time: s.peakAt, Source: sampler.PeakAllocator}
	}
	s.told = true
	return true
}
