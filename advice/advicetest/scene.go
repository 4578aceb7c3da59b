package advicetest

import (
	"math/rand/v2"
	"time"

	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// Epoch is when every scene begins.
var Epoch = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// Scene is a simulated box. Each job says how much it wants at each step; the first
// that does not get it dies, and the run ends there.
type Scene struct {
	Class    string
	r        *rand.Rand
	Total    float64
	reserved float64
	Seconds  float64
	Step     float64 // between snapshots
	Hidden   bool    // no process is listed
	Windows  bool    // the window of the fast readings is recorded
	flushes  bool    // and its near misses are counted
	Jobs     []*Job
	Host     func(t float64) (available, total float64)
	Possible bool    // somebody who knows only the past could have warned
	After    float64 // a warning before this moment is no credit: nothing had happened yet
}

// Job is one process on a GPU from start to end.
type Job struct {
	GPU        int
	PID        int
	Start, End float64
	command    string
	user       string
	env        map[string]string
	Want       func(t float64) float64 // seconds since its start, MiB
}

// Snapshot is the box at a moment; died: a job did not get what it wanted.
func (s *Scene) Snapshot(t float64, gpus int) (snap sampler.Snapshot, died bool) {
	snap = sampler.Snapshot{Type: "snapshot", Time: Epoch.Add(time.Duration(t * float64(time.Second)))}
	for g := range gpus {
		sum, most, least := 0.0, 0.0, 0.0
		var procs []sampler.Process
		for _, j := range s.Jobs {
			if j.GPU != g || t < j.Start || t >= j.End {
				continue
			}
			now := j.Want(t - j.Start)
			sum += now
			high, low := now, now
			if s.Windows && t-s.Step >= j.Start {
				for k := range 9 {
					v := j.Want(t - j.Start - s.Step*float64(k+1)/10)
					high, low = max(high, v), min(low, v)
				}
			}
			most, least = most+high, least+low
			procs = append(procs, sampler.Process{PID: j.PID, Name: "python", User: j.user, Command: j.command, Environment: j.env,
				StartTime: sampler.Some(Epoch.Add(time.Duration(j.Start * float64(time.Second)))), Memory: sampler.Some(series.Bytes(now))})
		}
		if max(sum, most) > s.Total-s.reserved {
			return snap, true
		}
		gpu := sampler.GPU{Index: g, Memory: sampler.Memory{Total: sampler.Some(series.Bytes(s.Total)), Used: sampler.Some(series.Bytes(sum))}}
		if s.reserved > 0 {
			gpu.Memory.Reserved = sampler.Some(series.Bytes(s.reserved))
		}
		if s.Windows {
			gpu.Memory.Window = &sampler.Window{Min: series.Bytes(least), Max: series.Bytes(most), Readings: 10}
			if s.flushes {
				s.countFalls(gpu.Memory.Window, g, t)
			}
		}
		if !s.Hidden {
			gpu.Processes = procs
		}
		snap.GPUs = append(snap.GPUs, gpu)
	}
	if s.Host != nil {
		left, all := s.Host(t)
		if left <= 0 {
			return snap, true
		}
		snap.HostMemory = sampler.Some(sampler.HostMemory{Total: series.Bytes(all), Available: series.Bytes(left)})
	}
	return snap, false
}

// countFalls counts the near misses of the last step as the sampling loop does. It looks
// back far enough to see a fall that ended in it.
func (s *Scene) countFalls(w *sampler.Window, gpu int, t float64) {
	const lookBack, every = 3.0, 0.1
	var f sampler.FallCounter
	var before sampler.Window
	for at := t - s.Step - lookBack; at <= t; at += every {
		sum := 0.0
		for _, j := range s.Jobs {
			if j.GPU == gpu && at >= j.Start && at < j.End {
				sum += j.Want(at - j.Start)
			}
		}
		into := w
		if at <= t-s.Step {
			into = &before
		}
		f.Count(into, Epoch.Add(time.Duration(at*float64(time.Second))), series.Bytes(sum), series.Bytes(s.Total-s.reserved))
	}
}
