package report

import (
	"math"
	"time"

	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// gpuFold is what a recording tells of one GPU so far.
type gpuFold struct {
	key    sampler.GPUKey
	gpu    sampler.GPU // newest
	used   float64     // bytes, newest; NaN: unknown
	total  float64
	usable float64 // used and free together: what is not reserved
	seen   float64 // seconds, newest
	listed float64 // the same, of the newest that tells who is there
	level  level

	peak       *Peak
	holders    []Holder
	mean       average
	all, busy  shares // everything, and while something ran
	worst      float64
	bins       *bins
	job        series.Series // of the job that runs
	jobSeconds float64       // that it was seen; NaN: nothing was seen yet
	longest    jobGrowth     // of the jobs before
	series     series.Series
	spikes     []Spike
	counted    int        // spikes of the series that were taken over
	newest     *excursion // not filed yet: the next spike may be of it
	filed      int        // spikes, also those that the list has no room for
	hasList    bool

	exitFree  sampler.Opt[sampler.Bytes] // most free since the last exit, while it is looked for
	exitUntil float64
}

// mib is the unit of series, in bytes.
const mib = float64(sampler.MiB)

// jobGrowth is how long a job ran and how it grew at its end.
type jobGrowth struct{ seconds, perSecond float64 } // bytes per second

// growthLeast: in fewer seconds a start and a leak look the same.
const growthLeast = 120

func newGPUFold(key sampler.GPUKey) *gpuFold {
	c := &gpuFold{key: key, used: math.NaN(), level: level{used: math.NaN()}, worst: math.NaN(), bins: newBins(2048), jobSeconds: math.NaN()}
	c.series.Apart = true
	return c
}

// fold takes one snapshot of the GPU.
func (c *gpuFold) fold(l *timeline, g *sampler.GPU, gap bool) {
	now, at := l.clock.Now, l.at
	c.weigh(l, gap)
	c.gpu = *g
	c.hasList = c.hasList || len(g.Processes) > 0
	c.seen = now
	if !g.Silent() {
		c.listed = now
	}
	used, ok := sampler.Plausible(g.Memory.Used)
	if !ok {
		c.used, c.level = math.NaN(), level{math.NaN(), now}
		return
	}
	c.used = float64(used)
	c.level = level{c.used, now}
	if t, ok := g.Memory.PlausibleTotal().Value(); ok {
		c.total = float64(t)
	}
	free, known := g.Memory.PlausibleFree().Value()
	if known {
		c.usable = c.used + float64(free)
	}
	low, high, highAt := c.window(l)
	c.noteAt(now, at, c.used, c.used)
	if high > c.used || low < c.used {
		c.noteAt(l.seconds(highAt), highAt, min(low, c.used), high)
	}
	c.foldSpikes(now, low, high, gap)
	c.foldJob(now, low, high, gap)
	if !known {
		return
	}
	if c.exitFree.Known() && now <= c.exitUntil {
		c.exitFree = sampler.Some(max(free, c.exitFree.Or(0)))
	}
	c.worst = lower(c.worst, max(0, float64(free)-max(0, high-c.used)))
}

// level is what is used from a time on, until a snapshot or a reading of the memory poller says otherwise.
type level struct {
	used float64 // NaN: unknown
	from float64 // seconds
}

// weigh counts what was used until now for the time that it lasted.
func (c *gpuFold) weigh(l *timeline, gap bool) {
	if math.IsNaN(c.used) || gap {
		return
	}
	c.count(min(l.clock.Now-c.level.from, l.hold()))
	c.jobSeconds += max(0, min(l.clock.Now-c.seen, l.hold()))
}

func (c *gpuFold) count(seconds float64) {
	if math.IsNaN(c.level.used) || seconds <= 0 {
		return
	}
	c.mean.add(c.level.used, seconds)
	limit := max(c.total, c.level.used)
	c.all.add(c.level.used, limit, seconds)
	if c.running() {
		c.busy.add(c.level.used, limit, seconds)
	}
}

// running says whether something ran on the GPU: a process is listed, or, where none ever
// was, more is used than a driver takes for itself.
func (c *gpuFold) running() bool {
	if c.hasList {
		return len(c.gpu.Processes) > 0
	}
	return c.used > c.idle()
}

// idle is what a GPU may use with nothing running on it: the driver's own part.
func (c *gpuFold) idle() float64 { return max(0.02*c.total, 600*mib) }

// window is what the memory poller saw since the snapshot before, if that is of this recording.
func (c *gpuFold) window(l *timeline) (low, high float64, highAt time.Time) {
	w := c.gpu.Memory.Window
	if w == nil || w.Readings <= 0 || w.Max >= sampler.MaxPlausible || w.Min > w.Max || c.total > 0 && float64(w.Max) > c.total || w.MaxTime.Before(l.start) && !w.MaxTime.IsZero() {
		return c.used, c.used, l.at
	}
	highAt = w.MaxTime
	if highAt.IsZero() || highAt.After(l.at) {
		highAt = l.at
	}
	return float64(w.Min), float64(w.Max), highAt
}

// note takes a reading of the memory poller.
func (c *gpuFold) note(l *timeline, at time.Time, used float64) {
	if c.total > 0 && used > c.total {
		return
	}
	t := l.seconds(at)
	c.noteAt(t, at, used, used)
	if t >= c.level.from && !math.IsNaN(c.used) {
		c.count(min(t-c.level.from, l.hold()))
		c.level = level{used, t}
	}
	if f, ok := c.freeAt(used); ok {
		c.worst = lower(c.worst, f)
	}
}

// noteAt files a value in the plots and keeps the peak.
func (c *gpuFold) noteAt(t float64, at time.Time, low, high float64) {
	c.bins.add(t, low, high)
	if c.peak == nil || high > float64(c.peak.Bytes) {
		c.peak = &Peak{sampler.Peak{Bytes: sampler.Bytes(high), Time: at, Source: sampler.PeakSampled}, t}
		c.holders = nil
	}
}

func (c *gpuFold) freeAt(used float64) (float64, bool) {
	return max(0, c.usable-used), c.usable > 0
}

// foldJob follows the growth of what runs.
func (c *gpuFold) foldJob(now, low, high float64, gap bool) {
	if math.IsNaN(c.jobSeconds) {
		c.jobSeconds = 0
		c.job.Start(now, c.running())
	}
	if gap {
		c.job.ForgetRecent()
	}
	c.job.Add(now, c.used/mib, low/mib, high/mib, c.total/mib)
}

// grown is how the job has grown so far, by the judge that alerts go by.
func (c *gpuFold) grown() jobGrowth {
	g := jobGrowth{seconds: c.jobSeconds}
	if tr, ok := c.job.Steady(c.total / mib); ok {
		g.perSecond = tr.Slope * mib
	}
	return g
}

// endJob closes the growth of a job; what runs next begins anew.
func (c *gpuFold) endJob(now float64) {
	if g := c.grown(); g.seconds > c.longest.seconds {
		c.longest = g
	}
	c.jobSeconds = 0
	c.job.Start(now, false)
}

// growth is that of the job that ran longest, in bytes per hour; absent when none ran long
// enough to say.
func (c *gpuFold) growth() sampler.Opt[float64] {
	g := c.grown()
	if c.longest.seconds > g.seconds {
		g = c.longest
	}
	if !(g.seconds >= growthLeast) {
		return sampler.Opt[float64]{}
	}
	return sampler.Some(math.Round(g.perSecond * 3600))
}

// report is the GPU as a report shows it.
func (c *gpuFold) report(l *timeline) GPU {
	c.takeSpikes()
	c.keepLargest()
	g := GPU{Index: c.gpu.Index, Label: c.gpu.Label(), UUID: sampler.Clean(c.gpu.UUID), Name: sampler.Clean(c.gpu.Name),
		Total: c.gpu.Memory.PlausibleTotal(), Reserved: c.gpu.Memory.Reserved, Peak: c.peak, Growth: c.growth(),
		Spikes: append([]Spike{}, c.spikes...), SpikeCount: c.filed, Holders: append([]Holder{}, c.holders...),
		FreeAfterExit: c.exitFree, Plot: c.bins.points(l.hold())}
	for i := range g.Spikes {
		s := &g.Spikes[i]
		s.Unseen = l.unseen(s.T, s.T+s.Duration)
	}
	if !math.IsNaN(c.used) {
		last := l.clock.Usual
		if c.mean.weight == 0 {
			last = max(last, 1)
		}
		c.count(last)
	}
	g.Mean = rounded(c.mean.mean())
	typical := c.busy.median()
	if math.IsNaN(typical) {
		typical = c.all.median()
	}
	g.Typical = rounded(typical)
	g.WorstFree = rounded(c.worst)
	if f, ok := c.freeAt(typical); ok && !math.IsNaN(typical) {
		g.FreeTypical = rounded(f)
	}
	if c.peak != nil {
		if f, ok := c.freeAt(float64(c.peak.Bytes)); ok {
			g.FreeAtPeak = rounded(f)
		}
	}
	return g
}

// rounded is an amount, absent for NaN.
func rounded(v float64) sampler.Opt[sampler.Bytes] {
	if math.IsNaN(v) || v < 0 {
		return sampler.Opt[sampler.Bytes]{}
	}
	return sampler.Some(sampler.Bytes(math.Round(v)))
}
