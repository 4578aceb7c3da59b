package nvml

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"nvpeak/sampler"
)

// listKinds has one row per list of processes; newer versions of a function end in _v2 and _v3.
var listKinds = [...]listKind{
	{"compute processes", "nvmlDeviceGetComputeRunningProcesses", computes, false},
	{"graphics processes", "nvmlDeviceGetGraphicsRunningProcesses", draws, true},
	{"MPS processes", "nvmlDeviceGetMPSComputeRunningProcesses", sharesMPS, true},
}

type listKind struct {
	name   string
	symbol string
	use    usage
	// beside: most GPUs have none of these. Without this list the others still tell
	// something, and while it is empty it is read every besideEvery only, also when the
	// caller wants to know at once who has taken the memory.
	beside bool
}

// besideEvery is how often a list is read that was empty. The list of graphics processes is
// the most expensive call of all (4.5 ms, https://github.com/flightlessmango/MangoHud/pull/2104).
const besideEvery = 2 * time.Second

// usage is in which lists a process is.
type usage uint8

const (
	computes usage = 1 << iota
	draws
	sharesMPS
)

// word is the type of a process. An MPS client may also be in the compute list.
func (u usage) word() string {
	switch {
	case u&sharesMPS != 0:
		return "mps"
	case u == computes|draws:
		return "compute+graphics"
	case u == draws:
		return "graphics"
	}
	return "compute"
}

// processesState is what one GPU answered about its processes.
type processesState struct {
	lists  [len(listKinds)]kindState
	merged []user // what was read last, for its room
	sm     smState
	peaks  peakState
}

// user is a process as the lists name it.
type user struct {
	pid    uint32
	use    usage
	memory sampler.Opt[sampler.Bytes]
}

// kindState is one list of one GPU.
type kindState struct {
	list    processList
	last    []listEntry // the last answer, for as long as it may stand in
	good    time.Time
	next    time.Time
	pause   time.Duration
	failed  gonvml.Return // the last failure; SUCCESS: none since
	refused bool          // it will always fail so
}

// read lists the processes, merged by pid and in its order. most is the largest amount
// that one can have.
func (p *processesState) read(h handle, most sampler.Bytes, now time.Time) ([]sampler.Process, error) {
	p.merged = p.merged[:0]
	err := p.readLists(h, now, func(list []listEntry, use usage) { p.merged = merge(p.merged, list, use, most) })
	if err != nil && len(p.merged) == 0 {
		return nil, err
	}
	p.sm.read(h, now)
	list := make([]sampler.Process, len(p.merged))
	for i, u := range p.merged {
		list[i] = sampler.Process{PID: int(u.pid), Type: u.use.word(), Memory: u.memory, SM: p.sm.percent(u.pid, now)}
	}
	p.peaks.fill(h, list, now)
	return list, err
}

// readLists gives every list that could be read to add. Its error is that of the first list, which matters most:
// for a moment, and whoever asked knows how old its last answer is, or for good, and there may be others beside those
// that the other lists name.
func (p *processesState) readLists(h handle, now time.Time, add func([]listEntry, usage)) (missing error) {
	for i, kind := range listKinds {
		k := &p.lists[i]
		ret := k.ask(h, kind, now)
		if react(ret).ends() {
			p.forget()
			return failure(kind.name, ret)
		}
		switch {
		case ret == gonvml.SUCCESS || kind.beside && k.last != nil:
			add(k.last, kind.use)
		case !kind.beside:
			if missing = failure(kind.name, ret); errors.Is(missing, sampler.ErrTransient) {
				return missing
			}
		}
	}
	return missing
}

// forget drops what was read of a GPU that is lost.
func (p *processesState) forget() {
	for i := range p.lists {
		k := &p.lists[i]
		k.last, k.next, k.pause = nil, time.Time{}, 0
	}
	p.sm.shares = nil
}

// merge adds a list to processes in the order of their pids. A process that is in two lists holds its memory once;
// where they differ, the larger figure is the whole one. More than most is no figure.
func merge(users []user, list []listEntry, use usage, most sampler.Bytes) []user {
	for _, e := range list {
		if e.pid == 0 || e.pid > math.MaxInt32 {
			continue
		}
		at, known := slices.BinarySearchFunc(users, e.pid, func(u user, pid uint32) int { return cmp.Compare(u.pid, pid) })
		if !known {
			users = slices.Insert(users, at, user{pid: e.pid})
		}
		u := &users[at]
		u.use |= use
		// 2^64-1 is NVML_VALUE_NOT_AVAILABLE.
		if used := sampler.Bytes(e.used); used <= most && used >= u.memory.Or(0) {
			u.memory = sampler.Some(used)
		}
	}
	return users
}

// ask makes the list call of a kind when it is due; last is then what counts now.
func (k *kindState) ask(h handle, kind listKind, now time.Time) gonvml.Return {
	switch {
	case k.list.fn.pointer == nil || h.pointer == 0:
		k.failed, k.refused = gonvml.ERROR_FUNCTION_NOT_FOUND, true
		return k.failed
	case k.refused:
		return k.failed
	case now.Before(k.next):
		k.expire(now)
		return k.failed
	case kind.beside && k.last != nil && len(k.last) == 0 && now.Sub(k.good) < besideEvery-slack:
		return gonvml.SUCCESS
	}
	list, ret := k.list.read(h.pointer)
	r := react(ret)
	k.failed = ret
	switch {
	case ret == gonvml.SUCCESS:
		k.last, k.good, k.pause = list, now, 0
		return ret
	case r.forever && k.good.IsZero(): // what it once could do it may do again
		k.last, k.refused = nil, true
		return ret
	case r.forever:
		k.last = nil
	case r.stale:
		k.expire(now)
	default:
		k.last = nil
	}
	k.pause = backOff(k.pause, k.good)
	k.next = now.Add(k.pause - slack)
	return ret
}

func (k *kindState) expire(now time.Time) {
	if now.Sub(k.good) > staleFor {
		k.last = nil
	}
}
