package nvml

import (
	"slices"
	"time"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"

	"nvpeak/sampler"
)

// Accounting mode (nvidia-smi -am 1, off by default) is the only way to an exact peak:
// the driver keeps the most memory each process ever had
// (https://docs.nvidia.com/deploy/nvml-api/group__nvmlAccountingStats.html).

const (
	// peakEvery is the shortest time between two questions about one process.
	peakEvery = 10 * time.Second
	// peaksAtOnce bounds the questions of one second, so that many processes do not mean many calls.
	peaksAtOnce = 2
)

// peakState is what the accounting of one GPU says.
type peakState struct {
	asked bool // whether accounting is on has been asked
	on    bool
	next  time.Time
	peaks map[int]driverPeak
}

type driverPeak struct {
	bytes sampler.Bytes // 0: none yet
	time  time.Time     // when this amount was first seen; the driver does not say when it was reached
	asked time.Time
}

// fill gives the processes their driver peaks.
func (p *peakState) fill(h handle, list []sampler.Process, now time.Time) {
	if !p.active(h) {
		return
	}
	p.keep(list)
	if !now.Before(p.next) {
		p.next = now.Add(time.Second - slack)
		p.ask(h, list, now)
	}
	for i := range list {
		if k := p.peaks[list[i].PID]; k.bytes > 0 {
			list[i].Peak = &sampler.Peak{Bytes: k.bytes, Time: k.time, Source: sampler.PeakDriver}
		}
	}
}

// ask fetches the peaks of the processes that were asked longest ago.
func (p *peakState) ask(h handle, list []sampler.Process, now time.Time) {
	due := make([]int, 0, len(list))
	for _, q := range list {
		if last := p.peaks[q.PID].asked; last.IsZero() || now.Sub(last) >= peakEvery-slack {
			due = append(due, q.PID)
		}
	}
	slices.SortStableFunc(due, func(a, b int) int { return p.peaks[a].asked.Compare(p.peaks[b].asked) })
	for _, pid := range due[:min(len(due), peaksAtOnce)] {
		stats, ret := h.GetAccountingStats(uint32(pid))
		if react(ret).forever && ret != gonvml.ERROR_INVALID_ARGUMENT {
			p.on = false
			return
		}
		p.note(pid, sampler.Bytes(stats.MaxMemoryUsage), ret == gonvml.SUCCESS, now)
	}
}

// active asks once per Open whether accounting is on.
func (p *peakState) active(h handle) bool {
	if p.asked {
		return p.on
	}
	p.asked = true
	if !h.symbols.has(symAccountingMode, symAccountingStats) {
		return false
	}
	mode, ret := h.GetAccountingMode()
	p.on = ret == gonvml.SUCCESS && mode == gonvml.FEATURE_ENABLED
	p.asked = ret == gonvml.SUCCESS || react(ret).forever
	return p.on
}

// keep forgets the peaks of processes that are gone: their pids will be used again.
func (p *peakState) keep(list []sampler.Process) {
	kept := make(map[int]driverPeak, len(list))
	for _, q := range list {
		kept[q.PID] = p.peaks[q.PID]
	}
	p.peaks = kept
}

// note takes one answer. 0 means that the driver has not counted yet.
func (p *peakState) note(pid int, bytes sampler.Bytes, ok bool, now time.Time) {
	k := p.peaks[pid]
	k.asked = now
	if ok && bytes > 0 && bytes <= sampler.MaxPlausible && bytes != k.bytes {
		k.bytes, k.time = bytes, now
	}
	p.peaks[pid] = k
}
