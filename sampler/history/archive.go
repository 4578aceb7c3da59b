package history

import (
	"time"

	"nvpeak/sampler"
)

// Archive is a History without an end: it keeps every second of a recording, so that the
// history at any time in it can be had at once. It takes 4.5 bytes per second and
// figure that was there, 2 MB a day for each GPU; beyond archiveRoom it keeps ten seconds
// instead of every second, then minutes.
type Archive struct {
	h     *History
	since int // snapshots since its room was looked at
}

const (
	archiveRoom = 64 << 20
	// roomEvery is the number of snapshots after which the room is looked at.
	roomEvery = 256
)

// NewArchive makes an empty archive of snapshots that come every interval or so.
func NewArchive(interval time.Duration) *Archive {
	h := New(interval)
	h.archive = true
	return &Archive{h: h}
}

// Add folds one snapshot in, as that of a History.
func (a *Archive) Add(s *sampler.Snapshot) {
	a.h.Add(s)
	if a.since++; a.since >= roomEvery {
		a.since = 0
		a.coarsen()
	}
}

// coarsen drops the finest resolution when there is too much.
func (a *Archive) coarsen() {
	room := 0
	a.h.each(func(u *unbounded) { room += u.room() })
	if room <= archiveRoom || a.h.finest == len(tiers)-1 {
		return
	}
	a.h.finest++
	a.h.each(func(u *unbounded) { u.coarsen(a.h.finest) })
}

// each visits all tracks of an archive.
func (h *History) each(do func(*unbounded)) {
	for _, s := range h.gpus {
		do(s.UsedMin.all)
		for _, t := range s.plots {
			do(t.all)
		}
	}
	for _, p := range h.procs {
		do(p.Used.all)
	}
}

// At makes the history as it was after the last snapshot at or before t, which is the
// time of a snapshot that was added. It goes on from there by Add.
func (a *Archive) At(t time.Time) *History {
	h := &History{gpus: map[sampler.GPUKey]*Series{}, procs: map[sampler.ProcessKey]*ProcessSeries{}, last: t.Round(0), gap: a.h.gap, soon: a.h.soon, tiers: a.h.tiers}
	for key, from := range a.h.gpus {
		to := h.series(key)
		to.UsedMin.recall(from.UsedMin.all, t)
		for name, track := range to.plots {
			track.recall(from.plots[name].all, t)
		}
	}
	for key, from := range a.h.procs {
		track := newTrack(false, processTiers)
		if seen := track.recall(from.Used.all, t); !seen.IsZero() {
			h.procs[key] = &ProcessSeries{Used: track, seen: seen}
		}
	}
	return h
}
