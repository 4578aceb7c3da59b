package demo

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"
	"time"

	"nvpeak/sampler"
)

// A script is everything a scenario says: the machine and what runs on it.
type script struct {
	name, title string
	gpus        []gpu
	jobs        []job
	hostGiB     float64 // memory of the machine
	systemGiB   float64 // of that, used by what is not a job
	asks        int     // MiB, the most that is asked for in one piece; 0: requests are not seen
}

// A gpu is one GPU of the machine.
type gpu struct {
	model  model
	hidden float64 // GiB used that no process of the list accounts for
}

// A job is one program, with one process (rank) for each entry of on. Its curves
// count from the start of the process. In command and environment {rank}, {gpu}
// and {ranks} are replaced.
type job struct {
	user, command string
	name          string // that of the program when empty
	kind          string // "compute" when empty, or graphics
	framework     string
	launcher      string // that has started the ranks, with the pid before theirs
	container     string
	environment   map[string]string
	pid           int // of rank 0 in the first run
	on            []int
	life          life

	flat   float64              // GiB all the time, context included
	uneven float64              // GiB by which ranks may hold more than flat; or instead of both:
	memory func(rank int) curve // GiB, context included
	load   func(rank int) curve // SM percent; idle when nil

	refused []refused // in each run

	hostGiB    float64 // resident, each process
	workersGiB float64 // in helper processes such as data loaders, each rank
	growthGiB  float64 // more host memory an hour, each process
	cpu        float64 // percent of one core at full load
	pcie       float64 // bytes per second into the GPU at full load
}

// graphics is the kind of programs that only draw.
const graphics = "graphics"

// life says when a program runs. With every = 0 it runs for ever.
type life struct {
	ago   float64 // seconds before the epoch at which the first run began; negative: after it
	every float64 // seconds from start to start
	last  float64 // seconds a run lives
}

// at is the place in the run that is alive t seconds after the epoch.
func (l life) at(t float64) (storyTime, bool) {
	age := t + l.ago
	if age < 0 {
		return storyTime{}, false
	}
	if l.every == 0 {
		return storyTime{T: age}, true
	}
	n := math.Floor(age / l.every)
	age -= n * l.every
	return storyTime{T: age, N: uint64(n)}, age < l.last
}

// begin is when run n started, in seconds after the epoch.
func (l life) begin(n uint64) float64 { return float64(n)*l.every - l.ago }

// always says whether the program was there at the epoch and never ends.
func (l life) always() bool { return l.every == 0 && l.ago >= 0 }

// A new run of a program gets pids that are this far from those of the run before;
// they come round again after so many runs, far below the largest pid of Linux.
const (
	pidStride = 512
	pidRuns   = 2000
)

// An actor is one process of a job.
type actor struct {
	job         *job
	gpu         int
	pid         int // in run 0
	name        string
	command     string
	environment map[string]string
	memory      curve // nil: flat
	flat        sampler.Bytes
	load        curve
}

func (a *actor) pidOf(run uint64) int { return a.pid + int(run%pidRuns)*pidStride }

// runOf says which run a pid belongs to, if it is one of this actor's at all.
func (a *actor) runOf(pid int) (uint64, bool) {
	d := pid - a.pid
	if d < 0 || d%pidStride != 0 || (d > 0 && a.job.life.every == 0) {
		return 0, false
	}
	return uint64(d / pidStride), true
}

// start is when the actor's run n started.
func (a *actor) start(epoch time.Time, n uint64) time.Time {
	return epoch.Add(time.Duration(a.job.life.begin(n) * float64(time.Second))).Truncate(10 * time.Millisecond)
}

// bytes rounds GiB down to whole 2 MiB pages, the grain in which a driver gives memory out.
func bytes(gib float64) sampler.Bytes {
	const page = 2 * sampler.MiB
	if !(gib > 0) {
		return 0
	}
	return sampler.Bytes(gib*float64(sampler.GiB)) / page * page
}

// A device is a GPU with the actors that live on it.
type device struct {
	gpu
	total, kept, hidden sampler.Bytes
	fixed               sampler.Bytes // of actors that never change
	moving              []*actor      // the others
	actors              []*actor
	seed                uint64
	identity            sampler.Device
}

// stage sets the actors of a script on its GPUs.
func (s *script) stage() []device {
	ds := make([]device, len(s.gpus))
	for i, g := range s.gpus {
		ds[i] = device{gpu: g, seed: uint64(i+1) * 0x1000193,
			total:    sampler.Bytes(g.model.totalMiB) * sampler.MiB,
			kept:     sampler.Bytes(g.model.keptMiB) * sampler.MiB,
			hidden:   bytes(g.hidden),
			identity: s.identity(i)}
	}
	for j := range s.jobs {
		for rank := range s.jobs[j].on {
			a := newActor(&s.jobs[j], rank)
			d := &ds[a.gpu]
			d.actors = append(d.actors, a)
			if a.memory == nil && a.job.life.always() {
				d.fixed += a.flat
			} else {
				d.moving = append(d.moving, a)
			}
		}
	}
	return ds
}

func (s *script) identity(i int) sampler.Device {
	var id [2]uint64
	for k := range id {
		id[k] = uint64(chance(uint64(len(s.name))+uint64(s.name[0])<<8, uint64(2*i+k)) * (1 << 53))
	}
	m := s.gpus[i].model
	return sampler.Device{
		Index: i,
		UUID: fmt.Sprintf("GPU-%08x-%04x-4%03x-%04x-%012x", uint32(id[0]), uint16(id[0]>>32), id[1]>>40&0xfff,
			0x8000|id[0]>>48&0x3fff, id[1]&0xffffffffffff),
		PCI:               fmt.Sprintf("00000000:%02X:00.0", 1+3*i),
		Name:              m.name,
		ComputeCapability: sampler.Some(m.capability),
	}
}

func newActor(j *job, rank int) *actor {
	a := &actor{job: j, gpu: j.on[rank], pid: j.pid + rank, flat: bytes(j.flat + j.uneven*chance(uint64(j.pid), uint64(rank)))}
	fill := strings.NewReplacer("{rank}", strconv.Itoa(rank), "{gpu}", strconv.Itoa(a.gpu), "{ranks}", strconv.Itoa(len(j.on)))
	a.command = fill.Replace(j.command)
	program, _, _ := strings.Cut(a.command, " ")
	a.name = cmp.Or(j.name, path.Base(program))
	a.environment = make(map[string]string, len(j.environment))
	for k, v := range j.environment {
		a.environment[k] = fill.Replace(v)
	}
	if j.memory != nil {
		a.memory = j.memory(rank)
	}
	if j.load != nil {
		a.load = j.load(rank)
	}
	return a
}
