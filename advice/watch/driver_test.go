package watch

import (
	"math"
	"slices"
	"time"

	"nvpeak/advice/advicetest"
	"nvpeak/sampler"
	"nvpeak/sampler/request"
)

// driven is a GPU of 40 GiB whose programs ask a driver for memory, seen through the fold over their calls. Where a program is on a second one, there
// is that, too.
type driven struct {
	now     float64
	used    sampler.Bytes
	calls   []drivenCall
	jobs    []*drivenJob
	next    uint64
	bare    bool // snapshots do not tell requests one by one
	seconds float64
	events  []drivenEvent
}

type drivenCall struct {
	request.Call
	at   float64
	used sampler.Bytes // of the GPU, afterwards
}

type drivenEvent struct {
	at  float64
	oom sampler.OOMEvent
}

type drivenJob struct {
	d          *driven
	pid        int
	command    string
	env        map[string]string
	up         []sampler.Parent
	start, end float64
	blocks     []drivenBlock
	status     int // with which the kernel keeps its end; seen only if ended
	ended      bool
	execed     bool      // it gave way to another program instead
	held       []float64 // MiB by call, with its time
	heldAt     []float64
	listed     bool
	zombie     bool // still listed when it has ended
	older      bool // than what looks at its calls
	thread     int  // that calls; 0: the first
	second     bool // its memory is the second GPU's
}

type drivenBlock struct {
	at   uint64
	n    sampler.Bytes
	free string // the function that takes it back
}

const (
	drivenTotal = 40 * sampler.GiB
	mib         = sampler.MiB
	gib         = sampler.GiB
)

// job starts a program.
func (d *driven) job(pid int, command string) *drivenJob {
	j := &drivenJob{d: d, pid: pid, command: command, start: d.now, end: 1e9, listed: true}
	d.jobs = append(d.jobs, j)
	d.used += 500 * mib
	j.note(500)
	return j
}

// beside starts a program on the second GPU, which has room.
func (d *driven) beside(pid int, command string) *drivenJob {
	j := &drivenJob{d: d, pid: pid, command: command, start: d.now, end: 1e9, listed: true, second: true, env: map[string]string{"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}}
	d.jobs = append(d.jobs, j)
	j.note(500)
	return j
}

func (d *driven) wait(seconds float64) { d.now += seconds }

func (j *drivenJob) note(change float64) {
	was := 0.0
	if n := len(j.held); n > 0 {
		was = j.held[n-1]
	}
	j.held, j.heldAt = append(j.held, was+change), append(j.heldAt, j.d.now)
}

func (j *drivenJob) call(function string, n sampler.Bytes, at uint64, answer int) {
	device := 0
	if j.second {
		device = 1
	}
	j.callOn(device, function, n, at, answer)
}

func (j *drivenJob) callOn(device int, function string, n sampler.Bytes, at uint64, answer int) {
	f := slices.IndexFunc(request.Functions, func(f request.Function) bool { return f.Name == function })
	j.d.calls = append(j.d.calls, drivenCall{at: j.d.now, used: j.d.used, Call: request.Call{Time: drivenTime(j.d.now), PID: j.pid, TID: j.pid + j.thread, Function: f,
		Size: uint64(n), Address: at, Device: device, Answer: answer}})
	j.d.now += 0.001
}

// with asks for memory by a function; false: it was refused.
func (j *drivenJob) with(function string, n sampler.Bytes) bool {
	if j.second {
		j.d.next += 1 << 20
		j.note(n.MiB())
		j.call(function, n, j.d.next, 0)
		return true
	}
	free := drivenTotal - j.d.used
	if n > free && function != "cuMemAllocManaged" {
		j.call(function, n, 0, 2)
		return false
	}
	j.d.next += 1 << 20
	if taken := min(n, free); function != "cuMemHostAlloc" {
		j.d.used += taken
		b := drivenBlock{j.d.next, n, "cuMemFree_v2"}
		if function == "cuMemCreate" {
			b.free = "cuMemRelease"
		}
		j.blocks = append(j.blocks, b)
		j.note(taken.MiB())
	}
	j.call(function, n, j.d.next, 0)
	return true
}

func (j *drivenJob) ask(n sampler.Bytes) bool { return j.with("cuMemAlloc_v2", n) }

// give gives the newest block back; false: there is none.
func (j *drivenJob) give() bool {
	n := len(j.blocks)
	if n == 0 {
		return false
	}
	b := j.blocks[n-1]
	j.blocks = j.blocks[:n-1]
	j.d.used -= min(b.n, j.d.used)
	j.note(-b.n.MiB())
	j.call(b.free, 0, b.at, 0)
	return true
}

// pool asks a pool for memory and gives it back, which that keeps.
func (j *drivenJob) pool(n sampler.Bytes) {
	j.with("cuMemAllocAsync", n)
	last := len(j.blocks) - 1
	j.call("cuMemFreeAsync", 0, j.blocks[last].at, 0)
	j.blocks = j.blocks[:last]
}

// trim gives back what the pool has kept.
func (j *drivenJob) trim(n sampler.Bytes) {
	j.d.used -= n
	j.note(-n.MiB())
	j.call("cuMemPoolTrimTo", 0, 0, 0)
}

func (j *drivenJob) giveAll() {
	for j.give() {
	}
}

// torch asks as PyTorch's allocator does: refused, it gives back its cache, the newest so many blocks, and asks again.
func (j *drivenJob) torch(n sampler.Bytes, cached int) bool {
	if j.ask(n) {
		return true
	}
	for range cached {
		j.give()
	}
	return j.ask(n)
}

// exit ends the program; its memory goes with it, without a call.
func (j *drivenJob) exit() {
	for _, b := range j.blocks {
		j.d.used -= min(b.n, j.d.used)
	}
	if !j.second {
		j.d.used -= 500 * mib
	}
	j.blocks, j.end = nil, j.d.now
}

// exits ends the program, and its status is seen as a shell tells it.
func (j *drivenJob) exits(status int) {
	j.exit()
	j.note(-j.held[len(j.held)-1])
	if j.status, j.ended = status<<8, true; status > 128 {
		j.status = status - 128
	}
}

// execs gives way to another program, which does not use the GPU.
func (j *drivenJob) execs() {
	j.exits(0)
	j.execed = true
}

func drivenTime(at float64) time.Time {
	return advicetest.Epoch.Add(time.Duration(at * float64(time.Second)))
}

func (j *drivenJob) process(at float64) sampler.Process {
	held := 0.0
	for i := range j.held {
		if j.heldAt[i] <= at {
			held = j.held[i]
		}
	}
	p := sampler.Process{PID: j.pid, Name: "python", User: "ann", Command: j.command, Type: "compute", Environment: j.env, Parents: j.up, Visible: true,
		StartTime: sampler.Some(drivenTime(j.start))}
	if held > 0 {
		p.Memory = sampler.Some(sampler.Bytes(held) * mib)
	}
	return p
}

func (j *drivenJob) alive(at float64) bool { return at >= j.start && (at < j.end || j.zombie) }

// Identify knows the processes that are alive.
func (d *driven) Identify(list []sampler.Process) {
	for i := range list {
		for _, j := range d.jobs {
			if j.pid == list[i].PID && j.alive(d.now) {
				m := list[i].Memory
				list[i] = j.process(d.now)
				list[i].Memory = m
			}
		}
	}
}

// Memory of the host is not known.
func (d *driven) Memory() sampler.Opt[sampler.HostMemory] { return sampler.Opt[sampler.HostMemory]{} }

// Name of the host.
func (d *driven) Name() string { return "box" }

// calmUntil is the second before the next call or end, for whom nothing has happened for a while.
func (d *driven) calmUntil(at float64) float64 {
	until := at + 4
	near := func(t float64) {
		if t > at-9 {
			until = min(until, math.Floor(t))
		}
	}
	for i := range d.calls {
		near(d.calls[i].at)
	}
	for _, j := range d.jobs {
		near(j.start)
		near(j.end)
	}
	for i := range d.events {
		near(d.events[i].at)
	}
	return until
}

// snapshots plays all calls and has a snapshot every second, or every five where nothing happens.
func (d *driven) snapshots() (list []sampler.Snapshot) {
	seconds := max(d.seconds, d.now+20)
	for _, j := range d.jobs { // it may be played again
		defer func(ended bool) { j.ended = ended }(j.ended)
	}
	tracker := request.New(d)
	older := map[int]bool{}
	for _, j := range d.jobs {
		older[j.pid] = j.older
	}
	tracker.Begin(older)
	key, second := sampler.GPUKey{ID: "GPU-d"}, sampler.GPUKey{ID: "GPU-e"}
	two := slices.ContainsFunc(d.jobs, func(j *drivenJob) bool { return j.second })
	used, next := sampler.Bytes(0), 0
	for at := 1.0; at < seconds; at++ {
		if calm := d.calmUntil(at); calm > at { // nothing happens: recordings are to be small
			at = min(calm, at+4)
		}
		for ; next < len(d.calls) && d.calls[next].at <= at; next++ {
			tracker.Reading(key, drivenTime(d.calls[next].at), used)
			used = d.calls[next].used
			tracker.Call(d.calls[next].Call)
		}
		for _, j := range d.jobs {
			if j.ended && j.end <= at {
				if j.ended = false; j.execed {
					tracker.Execed(j.pid, drivenTime(j.end))
				} else {
					tracker.Ended(j.pid, drivenTime(j.end), j.status, nil)
				}
			}
		}
		used = 0
		var usedThere sampler.Bytes
		var procs, there []sampler.Process
		for _, j := range d.jobs {
			switch p := j.process(at); {
			case !j.alive(at):
			case j.second:
				usedThere += p.Memory.Or(0)
				there = append(there, p)
			default:
				used += p.Memory.Or(0)
				procs = append(procs, p)
			}
		}
		d.now = at
		tracker.Reading(key, drivenTime(at), used)
		tracker.Listed(key, drivenTime(at), 0, procs)
		s := sampler.Snapshot{Type: "snapshot", Time: drivenTime(at), GPUs: []sampler.GPU{drivenGPU("GPU-d", used, procs)}}
		if two {
			tracker.Reading(second, drivenTime(at), usedThere)
			tracker.Listed(second, drivenTime(at), 0, there)
			s.GPUs = append(s.GPUs, drivenGPU("GPU-e", usedThere, there))
			s.GPUs[1].Index = 1
			s.GPUs[0].PCI, s.GPUs[1].PCI = "00000000:10:00.0", "00000000:20:00.0"
		}
		tracker.Apply(&s)
		if d.bare {
			s.Requests = nil
		}
		list = append(list, s)
	}
	return list
}

func drivenGPU(id string, used sampler.Bytes, procs []sampler.Process) sampler.GPU {
	return sampler.GPU{UUID: id, Name: "NVIDIA A100-SXM4-40GB", Processes: procs,
		Memory: sampler.Memory{Total: sampler.Some(drivenTotal), Used: sampler.Some(min(used, drivenTotal)), Free: sampler.Some(drivenTotal.Less(used))}}
}
