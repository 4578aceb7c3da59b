package sampler

import (
	"fmt"
	"time"
)

// noon begins the tests.
var noon = time.Date(2026, 11, 20, 12, 0, 7, 300e6, time.UTC)

// shot makes a hand-written snapshot: GPU 0 with that much used, and processes of 1 GiB.
func shot(at time.Time, used Bytes, pids ...int) *Snapshot {
	g := GPU{UUID: "GPU-0", Memory: Memory{Total: Some(80 * GiB), Used: Some(used), Free: Some(80*GiB - used)}}
	for _, pid := range pids {
		g.Processes = append(g.Processes, Process{PID: pid, Memory: Some(GiB)})
	}
	return &Snapshot{Time: at, GPUs: []GPU{g}}
}

// crowd is a snapshot of that many GPUs and processes on each.
func crowd(gpus, procs int) *Snapshot {
	s := &Snapshot{Time: noon}
	for i := range gpus {
		g := shot(noon, 40*GiB).GPUs[0]
		g.Index, g.UUID = i, fmt.Sprintf("GPU-%d", i)
		g.Memory.Window = &Window{Min: 39 * GiB, Max: 41 * GiB, MaxTime: noon, Readings: 50}
		g.Temperature, g.Power, g.Utilization.GPU = Some(60), Some(400.0), Some(97)
		for j := range procs {
			g.Processes = append(g.Processes, Process{PID: 1000*i + j, StartTime: Some(noon), Memory: Some(GiB)})
		}
		s.GPUs = append(s.GPUs, g)
	}
	return s
}
