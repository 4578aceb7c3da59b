package fleet

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"nvpeak/sampler"
)

// figures are what one exporter told of one machine at one time.
type figures struct {
	of     *exporter
	gpus   []*gpuFigures
	places map[place]*gpuFigures
	spare  gpuFigures // takes what there is no room for

	host, driver, cuda string
	age                float64 // s, of all but the peaks
	window             float64 // s, that the peaks go back
	period             float64 // s, between two readings of the memory
	down               bool    // the driver there does not answer
	hostTotal          amount
	hostFree           amount
	processes          int
}

// gpuFigures are those of one GPU.
type gpuFigures struct {
	sampler.GPU
	page       *figures
	place      place
	peak       amount          // since the exporter began
	peakTime   time.Time       // zero: not known
	scrapePeak amount          // of the window
	window     *sampler.Window // of several scrapes
	silent     bool            // it gives no figures
	fell       bool            // off the bus, since the exporter began
}

// Bounds of what one machine may have.
const (
	mostGPUs      = 512
	mostProcesses = 4096
)

// pages gathers what the exporters of one machine tell: one that has several kinds of names is heard by the best.
type pages struct{ list []*figures }

func (p *pages) take(s *sample) {
	m := metrics()[string(s.name)]
	if m == nil {
		return
	}
	f := p.page(m.of)
	if m.shared {
		m.put(&gpuFigures{page: f}, s)
	} else {
		m.put(f.gpu(s), s)
	}
	for _, name := range m.of.host {
		if host := s.label(name); host != "" {
			f.host = sampler.Clip(host)
		}
	}
}

func (p *pages) page(e *exporter) *figures {
	for _, f := range p.list {
		if f.of == e {
			return f
		}
	}
	f := &figures{of: e, places: map[place]*gpuFigures{}}
	f.spare.page = f
	p.list = append(p.list, f)
	return f
}

// best is what the best of the exporters told; nil: none told of a GPU.
func (p *pages) best() *figures {
	for _, e := range exporters {
		for _, f := range p.list {
			if f.of == e && len(f.gpus) > 0 {
				return f
			}
		}
	}
	return nil
}

// down says whether a page tells that the driver does not answer.
func (p *pages) down() bool {
	return slices.ContainsFunc(p.list, func(f *figures) bool { return f.down })
}

// place is what tells the GPU of a series from others.
type place struct{ index, mig, instance, uuid string }

func (e *exporter) place(s *sample) place {
	p := place{s.label(e.index), s.label("mig"), s.label("GPU_I_ID"), s.label(e.uuid)}
	if e.index == "index" { // of nvitop: 0:1 is an instance
		p.index, p.mig, _ = strings.Cut(p.index, ":")
	}
	return p
}

// gpu is the one that a series is of.
func (f *figures) gpu(s *sample) *gpuFigures {
	at := f.of.place(s)
	if g := f.places[at]; g != nil {
		return g
	}
	n, ok := whole(at.index)
	if at.index == "" {
		n, ok = len(f.gpus), at.uuid != ""
	}
	if !ok || len(f.gpus) == mostGPUs {
		f.spare.GPU = sampler.GPU{}
		return &f.spare
	}
	g := &gpuFigures{page: f, place: at}
	g.Index, g.UUID, g.Name, g.PCI = n, fullUUID(at.uuid), s.label(f.of.title), s.label(f.of.pci)
	g.MIG = instanceOf(at.mig, at.instance, s.label("GPU_I_PROFILE"))
	if at.instance != "" { // by dcgm with the UUID of its GPU
		g.UUID += "/" + at.instance
	}
	f.places[at] = g
	f.gpus = append(f.gpus, g)
	return g
}

// whole is a number as labels have it.
func whole(text string) (int, bool) {
	n, err := strconv.ParseUint(text, 10, 16)
	return int(n), err == nil
}

func instanceOf(mig, instance, profile string) *sampler.MIG {
	if n, ok := whole(mig); ok {
		return &sampler.MIG{Index: n, Profile: profile}
	}
	if n, ok := whole(instance); ok {
		return &sampler.MIG{Index: n, GPUInstance: n, Profile: profile}
	}
	return nil
}

// fullUUID has the beginning that nvidia_gpu_exporter takes away.
func fullUUID(uuid string) string {
	if len(uuid) == 36 && strings.Count(uuid, "-") == 4 {
		return "GPU-" + uuid
	}
	return uuid
}

func (g *gpuFigures) setIndex(v float64) {
	if v >= 0 && v < mostIndex {
		g.Index = int(v)
	}
}

func (g *gpuFigures) up(yes bool) {
	g.silent = !yes
	g.fault()
}

// offTheBus is the Xid of a GPU that has fallen off it.
const offTheBus = "79"

func (g *gpuFigures) xid(code string, count float64) {
	g.fell = g.fell || code == offTheBus && count > 0
	g.fault()
}

// fault says why there are no figures of a GPU, in whichever order its page tells it.
func (g *gpuFigures) fault() {
	switch {
	case g.silent && g.fell:
		g.Error = sampler.Some(sampler.ErrLost.Error() + " (Xid " + offTheBus + ")")
	case g.silent:
		g.Error = sampler.Some("it gives no figures there: lost, or the driver does not answer")
	}
}

func (g *gpuFigures) throttle(reason string) {
	if reason != "" && len(g.Throttle) < 16 {
		g.Throttle = append(g.Throttle, reason)
	}
}

// process is the one that a series is of.
func (g *gpuFigures) process(s *sample) *sampler.Process {
	pid, err := strconv.ParseUint(s.label("pid"), 10, 31)
	if err != nil {
		return &sampler.Process{}
	}
	for i := range g.Processes {
		if g.Processes[i].PID == int(pid) {
			return &g.Processes[i]
		}
	}
	if g.page.processes == mostProcesses {
		return &sampler.Process{}
	}
	g.page.processes++
	name := cmp.Or(s.label("name"), s.label("process_name"))
	p := sampler.Process{PID: int(pid), User: cmp.Or(s.label("user"), s.label("username")), Name: name[strings.LastIndexByte(name, '/')+1:], Type: "compute", Visible: true}
	if container := s.label("container"); container != "" {
		p.Container = sampler.Some(container)
	}
	if job := s.label("slurm_job"); job != "" {
		p.Container = sampler.Some("slurm:" + job)
	}
	g.Processes = append(g.Processes, p)
	return &g.Processes[len(g.Processes)-1]
}

func (g *gpuFigures) processPeak(s *sample) {
	if b, ok := bytesOf(s.value, 1).Value(); ok {
		g.process(s).Peak = &sampler.Peak{Bytes: b, Source: s.label("source")}
	}
}

// snapshot is what is known at that time. Peaks are told without a time: it is when they were told first.
func (f *figures) snapshot(at time.Time) *sampler.Snapshot {
	s := &sampler.Snapshot{Time: at, Driver: f.driver, CUDA: f.cuda}
	for _, g := range f.gpus {
		g.settle(at)
		s.GPUs = append(s.GPUs, g.GPU)
	}
	slices.SortStableFunc(s.GPUs, func(a, b sampler.GPU) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(instance(a.MIG), instance(b.MIG)))
	})
	if total, ok := f.hostTotal.Value(); ok && total > 0 {
		s.HostMemory = sampler.Some(sampler.HostMemory{Total: total, Available: min(total, f.hostFree.Or(0))})
	}
	cleanTexts(s)
	return s
}

func instance(m *sampler.MIG) int {
	if m == nil {
		return -1
	}
	return m.Index
}

// settle derives what follows from the figures of a GPU.
func (g *gpuFigures) settle(at time.Time) {
	m := &g.Memory
	used, known := m.Used.Value()
	free, ok := m.Free.Value()
	if known && ok && !m.Total.Known() {
		m.Total = sampler.Some(used + free + m.Reserved.Or(0))
	}
	if total, has := m.Total.Value(); has && known && !ok {
		m.Free = sampler.Some(total.Less(m.Reserved.Or(0)).Less(used))
	}
	if b, ok := g.peak.Value(); ok {
		m.Peak = &sampler.Peak{Bytes: b, Time: at, Source: sampler.PeakSampled}
		if !g.peakTime.IsZero() {
			m.Peak.Time = g.peakTime
		}
	}
	m.Window = g.window
	if b, ok := g.scrapePeak.Value(); ok && known {
		m.Window = &sampler.Window{Min: min(used, b), Max: max(used, b), MaxTime: at, Readings: g.page.readings()}
	}
	if g.page.down {
		g.up(false)
	}
	if g.Throttle == nil {
		g.Throttle = []string{}
	}
	if g.Processes == nil {
		g.Processes = []sampler.Process{}
	}
	for i := range g.Processes {
		if p := g.Processes[i].Peak; p != nil {
			p.Time = at
		}
	}
}

// readings is how many were made in the window.
func (f *figures) readings() int {
	if f.period > 0 && f.window > 0 && f.window/f.period < 1e6 {
		return max(1, int(f.window/f.period))
	}
	return 1
}
