package advice

import (
	"maps"
	"math/rand/v2"
	"time"

	"nvpeak/sampler"
)

// epoch is when every scene begins.
var epoch = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// A scene is a simulated box. Each job says how much it wants at each step; the first
// that does not get it dies, and the run ends there.
type scene struct {
	class    string
	r        *rand.Rand
	total    float64
	reserved float64
	seconds  float64
	step     float64 // between snapshots
	hidden   bool    // no process is listed
	windows  bool    // the fast lane's window is recorded
	jobs     []*job
	host     func(t float64) (available, total float64)
	possible bool    // somebody who knows only the past could have warned
	after    float64 // a warning before this moment is no credit: nothing had happened yet
}

// job is one process on card gpu from start to end.
type job struct {
	gpu        int
	pid        int
	start, end float64
	command    string
	user       string
	want       func(t float64) float64 // seconds since its start, MiB
}

// scenes is every class of runs. Those named "ok" are healthy.
var scenes = map[string]func(r *rand.Rand) *scene{}

func init() { // not at once: some scenes are made from others
	maps.Copy(scenes, healthyScenes)
	maps.Copy(scenes, dyingScenes)
}

func (s *scene) snapshot(t float64, gpus int) (snap sampler.Snapshot, died bool) {
	snap = sampler.Snapshot{Type: "snapshot", Time: epoch.Add(time.Duration(t * float64(time.Second)))}
	for g := range gpus {
		sum, most, least := 0.0, 0.0, 0.0
		var procs []sampler.Process
		for _, j := range s.jobs {
			if j.gpu != g || t < j.start || t >= j.end {
				continue
			}
			now := j.want(t - j.start)
			sum += now
			high, low := now, now
			if s.windows && t-s.step >= j.start {
				for k := range 9 {
					v := j.want(t - j.start - s.step*float64(k+1)/10)
					high, low = max(high, v), min(low, v)
				}
			}
			most, least = most+high, least+low
			procs = append(procs, sampler.Process{PID: j.pid, Name: "python", User: j.user, Command: j.command,
				StartTime: sampler.Some(epoch.Add(time.Duration(j.start * float64(time.Second)))), Memory: sampler.Some(bytesOf(now))})
		}
		if max(sum, most) > s.total-s.reserved {
			return snap, true
		}
		card := sampler.GPU{Index: g, Memory: sampler.Memory{Total: sampler.Some(bytesOf(s.total)), Used: sampler.Some(bytesOf(sum))}}
		if s.reserved > 0 {
			card.Memory.Reserved = sampler.Some(bytesOf(s.reserved))
		}
		if s.windows {
			card.Memory.Window = &sampler.Window{Min: bytesOf(least), Max: bytesOf(most), Readings: 10}
		}
		if !s.hidden {
			card.Processes = procs
		}
		snap.GPUs = append(snap.GPUs, card)
	}
	if s.host != nil {
		left, all := s.host(t)
		if left <= 0 {
			return snap, true
		}
		snap.HostMemory = sampler.Some(sampler.HostMemory{Total: bytesOf(all), Available: bytesOf(left)})
	}
	return snap, false
}
