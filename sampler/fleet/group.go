package fleet

import (
	"net"
	"slices"
	"time"

	"nvpeak/sampler"
)

// group is what the server knows of one target.
type group struct {
	pages
	key, instance, node string
	samples             []timed
	newest              time.Time
}

// timed is one raw sample.
type timed struct {
	at    time.Time
	of    *exporter
	place place
	bytes sampler.Bytes
}

const mostSamples = 1 << 18

// groupOf is the target of a series; nil: there are too many, or it is none of those that are known and no new one is to be made.
func groupOf(groups map[string]*group, s *sample, e *exporter, fresh bool) *group {
	instance, job := s.label("instance"), s.label("job")
	node := ""
	for _, name := range append(slices.Clone(e.host), "exported_"+"hostname", "node", "nodename", "host") {
		if node = s.label(name); node != "" {
			break
		}
	}
	key := instance + "\x00" + job
	if instance == "" {
		key = node
	}
	g := groups[key]
	if g == nil {
		if !fresh || len(groups) == mostHosts {
			return nil
		}
		g = &group{key: key, instance: instance}
		groups[key] = g
	}
	if g.node == "" {
		g.node = node
	}
	return g
}

// title is what the host of a group is called: as its exporter says, else by its address.
func (g *group) title(f *figures) string {
	for _, name := range []string{f.host, g.node} {
		if name != "" {
			return sampler.Clip(name)
		}
	}
	if host, _, err := net.SplitHostPort(g.instance); err == nil {
		return sampler.Clip(host)
	}
	return sampler.Clip(g.instance)
}

// knownGroup is a group that tells of GPUs.
type knownGroup struct {
	*group
	figures *figures
	name    string
	shared  bool // others have that name, too: no new host gets it
	rank    int
}

// told says whether a better exporter has told of these GPUs, or the same one by another job of the server, and notes that this one has.
func (g *knownGroup) told(already map[string]knownGroup) bool {
	for _, gpu := range g.figures.gpus {
		if o, ok := already[gpu.UUID]; ok && gpu.UUID != "" && (o.rank < g.rank || o.name == g.name && o.instance == g.instance) {
			return true
		}
	}
	for _, gpu := range g.figures.gpus {
		already[gpu.UUID] = *g
	}
	return false
}

// before is the time of the sample before the newest, not before that.
func (g *group) before(last time.Time) time.Time {
	best := last
	for _, s := range g.samples {
		if s.at.After(best) && s.at.Before(g.newest) {
			best = s.at
		}
	}
	return best
}

// windows makes of the samples since the last snapshot what its memory went through: of nvpeak every peak, of others their readings. Before the first
// snapshot there is no window, but there may have been a peak.
func (g *knownGroup) windows(last time.Time) {
	for _, s := range g.samples {
		of := g.figures.places[s.place]
		if s.of != g.figures.of || of == nil || !s.at.After(last) {
			continue
		}
		if of.window == nil {
			of.window = &sampler.Window{Min: s.bytes, Max: s.bytes, MaxTime: s.at}
		}
		w := of.window
		w.Readings++
		w.Min = min(w.Min, s.bytes)
		if s.bytes > w.Max {
			w.Max, w.MaxTime = s.bytes, s.at
		}
	}
	for _, of := range g.figures.gpus {
		w := of.window
		of.scrapePeak = amount{} // it is among the samples
		switch {
		case w == nil:
		case last.IsZero():
			of.window = nil
			if w.Max >= of.peak.Or(0) {
				of.peak, of.peakTime = sampler.Some(w.Max), w.MaxTime
			}
		case g.figures.window > 0:
			w.Readings = g.figures.readings()
		}
	}
}
