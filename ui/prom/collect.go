package prom

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"nvpeak/sampler"
)

var (
	info           = gauge("nvpeak_info", "What runs; always 1.", "version", "driver_version", "cuda_version", "hostname")
	driverUp       = gauge("nvpeak_driver_up", "Whether the driver answers, be it that a GPU is lost.")
	snapshotAge    = gauge("nvpeak_snapshot_age_seconds", "How old the newest figures of a GPU are, but for the peaks, which are of this moment.")
	windowLength   = gauge("nvpeak_scrape_window_seconds", "How far back the scrape peaks of this answer go.")
	readPeriod     = gauge("nvpeak_memory_reading_period_seconds", "Time between two readings of the GPU memory where it moves.")
	readDuty       = gauge("nvpeak_driver_calls_ratio", "Share of one thread that waits for the driver.")
	scrapesRefused = counter("nvpeak_scrapes_refused_total", "Scrapes that were answered with 503, for too many others waited.")
	hostTotal      = gauge("nvpeak_host_memory_total_bytes", "RAM of the host.")
	hostFree       = gauge("nvpeak_host_memory_available_bytes", "RAM of the host that programs can have.")
)

// scrape is one answer.
type scrape struct {
	*Exporter
	since, now time.Time
}

// Describe describes nothing beforehand: which GPUs and processes there are differs from scrape to scrape.
func (s scrape) Describe(chan<- *prometheus.Desc) {}

// Collect sends everything.
func (s scrape) Collect(ch chan<- prometheus.Metric) {
	snap := s.newest.Load()
	windowLength.send(ch, s.now.Sub(s.since).Seconds())
	scrapesRefused.send(ch, float64(s.refused.Load()))
	if snap == nil {
		return
	}
	info.send(ch, 1, s.opt.Version, snap.Driver, snap.CUDA, snap.Host)
	for i := range snap.GPUs {
		sendGPU(ch, &snap.GPUs[i])
		s.opt.Pods.send(ch, &snap.GPUs[i])
		if s.opt.DCGM {
			sendDCGM(ch, snap.Snapshot, &snap.GPUs[i], s.opt.Pods)
		}
	}
	driverUp.send(ch, oneIf(snap.driver))
	if !snap.figures.IsZero() {
		snapshotAge.send(ch, max(0, s.now.Sub(snap.figures).Seconds()))
	}
	if lane, ok := snap.Sampling.Value(); ok {
		readPeriod.send(ch, lane.PeriodSeconds)
		readDuty.send(ch, lane.DutyPercent*percent)
	}
	if m, ok := snap.HostMemory.Value(); ok {
		hostTotal.send(ch, float64(m.Total))
		hostFree.send(ch, float64(m.Available))
	}
	if s.opt.Processes > 0 && snap.driver {
		sendProcesses(ch, snap.Snapshot, s.opt.Processes, s.opt.Pods)
	}
	s.sendPlaces(ch, snap.Snapshot)
}

// sendPlaces sends what readings tell: the peaks of this scrape, and what was counted.
func (s scrape) sendPlaces(ch chan<- prometheus.Metric, snap *sampler.Snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range min(len(s.places), len(snap.GPUs)) {
		p, g := s.places[i], &snap.GPUs[i]
		if p.key != g.Key() {
			continue
		}
		if most, ok := p.highest.Since(s.since); ok {
			scrapePeak.send(ch, float64(most), gpuLabels(g)...)
			if total, known := g.Memory.Total.Value(); known {
				scrapeFree.send(ch, float64(total.Less(g.Memory.Reserved.Or(0)).Less(most)), gpuLabels(g)...)
			}
		}
		p.count(s.now)
		for n, d := range p.above {
			above.send(ch, d.Seconds(), gpuLabels(g, shareLabel(n))...)
		}
		for xid, n := range p.xids {
			gpuXID.send(ch, float64(n), gpuLabels(g, strconv.FormatUint(xid, 10))...)
		}
	}
	s.alerts.send(ch)
}
