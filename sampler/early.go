package sampler

import "slices"

// A screen that waits for the next snapshot shows a spike up to a second after it happened,
// and one of 50 ms when it is long over. So between two snapshots there may be early pictures:
// the last snapshot with the peaks of those GPUs whose memory has risen since, and of their
// processes. What is in use stays as it was: a spike that is drawn and taken back would cost
// a slow line twice. No window ends with a picture, and only who asks for them gets them: not
// a recording, not stream, not the advice. There are pictures of figures that got too old, too: see aged.go.

// wantPeaks turns early pictures on.
func (c *collector) wantPeaks() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.early = true
}

// listing says whether a process list is on its way that belongs to an early picture.
func (c *collector) listing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.gpus, func(d *device) bool { return d.height.news && d.asked })
}

// picture is the early picture of now; nil: there is no news.
func (c *collector) picture() *Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil || c.lost != nil {
		return nil
	}
	s, renewed := c.renewal(), false
	for i, d := range c.gpus {
		if !d.height.news {
			continue
		}
		d.height.shown(d.win.Max)
		c.rearm(d)
		if g := &s.GPUs[i]; g.Memory.Used.Known() {
			d.renew(g, c.marks)
			renewed = true
		}
	}
	if !renewed {
		return nil
	}
	c.last = s // the next one keeps what this one shows
	return s
}

// renewal is a picture that shows what the last one did, until something of it is renewed.
func (c *collector) renewal() *Snapshot {
	s := *c.last
	s.GPUs = slices.Clone(s.GPUs)
	return &s
}

// Renewed says whether a picture shows anything else of a GPU than one before it did, which showed it as was. Only of pictures of one
// snapshot, and of those who show the same one: each renewal leaves it with a window of its own.
func (g *GPU) Renewed(was *GPU) bool {
	return g.Memory.Window == nil || g.Memory.Window != was.Memory.Window
}

// renew gives a GPU of a snapshot the peaks of now.
func (d *device) renew(g *GPU, marks *Watermarks) {
	key, win := g.Key(), d.win
	marks.window(key, &d.mem, &win)
	m := *marks.mark(key)
	g.Memory.Window, g.Memory.Peak, g.Memory.PeakPID, g.Memory.WorstFree = &win, &m.peak, m.pid, m.worstFree
	g.Processes = slices.Clone(g.Processes)
	for i := range g.Processes {
		if m := marks.procs[g.Processes[i].Key(key)]; m != nil && m.peak.Source != "" {
			peak := m.peak
			g.Processes[i].Peak = &peak
		}
	}
}
