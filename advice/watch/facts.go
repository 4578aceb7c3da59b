package watch

import (
	"time"

	"nvpeak/advice/lang"
	"nvpeak/advice/series"
	"nvpeak/sampler"
)

// Facts are what a rule may look at: one GPU (or, with none, the host and the machine)
// with everything that was folded from the snapshots so far.
type Facts struct {
	now      float64 // seconds on the Watch's clock
	time     time.Time
	gpu      *gpu
	gpus     []*gpu // all of them, for jobs on several
	host     *host
	needs    *needs
	failures []failure
	stages   *stages
	tensors  *tensors
	words    lang.Catalog
	log      string // that is followed
	levels   Levels
}

// live says whether there is a GPU that has just given figures.
func (f *Facts) live() bool { return f.gpu != nil && f.gpu.figures == f.now }

// who names a process: name and user.
func (f *Facts) who(name, user string) string {
	if name = sampler.Clip(name); name == "" {
		name = f.words.Say("alert.process")
	}
	if user != "" {
		return name + ", " + sampler.Clip(user)
	}
	return name
}

// pid names a process with its number.
func (f *Facts) pid(p *proc) string {
	return f.words.Say("alert.pid", "pid", p.pid, "who", f.who(p.process.Name, p.process.User))
}

// holder names whose memory a series is.
func holder(f *Facts, p *proc) string {
	switch {
	case p != nil:
		return f.pid(p)
	case f.gpu.listed:
		return f.words.Say("alert.growth.unlisted")
	}
	return f.words.Say("alert.growth.memory")
}

// size is an amount of a series in words.
func size(m float64) string { return series.Bytes(m).String() }

// sizeFree is an amount that is free, sizeNeeded one that is asked for or missing.
func sizeFree(m float64) string   { return series.Bytes(m).Few() }
func sizeNeeded(m float64) string { return series.Bytes(m).Needed() }

// bytesOf is an amount of a series as a number of an alert.
func bytesOf(m float64) float64 { return float64(series.Bytes(m)) }
