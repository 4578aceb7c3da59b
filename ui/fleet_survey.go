package ui

import (
	"cmp"
	"slices"
	"time"

	"nvpeak/advice/watch"
	"nvpeak/sampler"
	"nvpeak/sampler/fleet"
	"nvpeak/theme"
)

// overview is what the screen of all machines shows. A frozen one keeps it.
type overview struct {
	rows   []*machine // those that fit the filter, the worst first
	groups []*group   // instead of them
	by     grouping   // byUser, byJob; or else machines
	cursor int        // a row
	follow string     // what the cursor is on; empty: it stays in its row
	listed bool       // the keys are for the processes, not for the machines
	total  fleetTotal
	ranked hostOrder
	sorted time.Time // when the rows were last put in order
}

// fleetTotal counts what the machines have. What a lost one has is not known.
type fleetTotal struct {
	hosts                     map[fleet.State]int
	gpus, procs               int
	fits, places              int // GPUs and instances on which the need does, of those that a program can be given
	used, capacity            sampler.Bytes
	notices, warned, critical int
}

// machineRow is a machine as it is shown.
type machineRow struct {
	host  *fleet.Host
	v     *view         // of its newest snapshot; nil: nothing has come yet
	least *sampler.GPU  // the one that had the least part free at worst; nil: not known of any
	free  sampler.Bytes // of that
	most  sampler.Bytes // free at worst on the one that had most
	used  sampler.Bytes // of all its GPUs
	room  sampler.Bytes // they have
	gpus  int           // whole ones
	procs int
	fits  int              // GPUs and instances on which the need that was typed does…
	of    int              // …of those that a program can be given
	busy  sampler.Opt[int] // the mean utilization in percent
	users []string
	level theme.Role // of what is open: Critical, Warning, Notice; Ok: nothing is
	said  string     // the most urgent of that
	open  fleetTotal // alerts
}

// old says whether its figures are of a time that is over.
func (r *machineRow) old() bool { return r.host.State == fleet.Lost }

// rowOf makes the row of a machine.
func (m *Model) rowOf(k *machine) machineRow {
	r := machineRow{host: k.host, level: theme.Ok}
	s := k.folds.newest
	if s == nil {
		return r
	}
	alerts := k.alerts
	if m.folds.watch.Need().Known() { // on how many GPUs it fits is said, and on most machines it need not
		alerts = slices.DeleteFunc(slices.Clone(alerts), func(a sampler.Alert) bool { return a.Kind == sampler.AlertNeed && !a.PID.Known() })
	}
	v := m.viewOf(k.folds, shown{snap: s, alerts: alerts, fits: k.folds.fits(s)})
	r.v = v
	r.least, r.free = v.tightest()
	busy, known := 0, 0
	places := s.Assignable()
	for i := range s.GPUs {
		g := &s.GPUs[i]
		r.procs += len(g.Processes)
		for _, p := range g.Processes {
			if p.User != "" && !slices.Contains(r.users, p.User) {
				r.users = append(r.users, p.User)
			}
		}
		if !s.Split(g) {
			r.most = max(r.most, min(g.Memory.WorstFree.Else(g.Memory.Free).Or(0), sampler.MaxPlausible))
		}
		if g.MIG != nil && slices.ContainsFunc(s.GPUs, func(o sampler.GPU) bool { return o.MIG == nil && o.Index == g.Index }) {
			continue // it is a part of that
		}
		r.gpus++
		if used, ok := g.Memory.Used.Value(); ok { // what is not known is in neither sum
			r.used += min(used, sampler.MaxPlausible)
			r.room += min(g.Memory.Total.Or(0), sampler.MaxPlausible)
		}
		if u, ok := g.Utilization.GPU.Value(); ok {
			busy, known = busy+max(0, min(u, 100)), known+1
		}
	}
	r.of = len(places)
	if k.host.State == fleet.OK { // of another, what is free is not known
		r.fits = v.fitCount(places)
	}
	if known > 0 {
		r.busy = sampler.Some(busy / known)
	}
	apart := *v
	apart.fits = nil
	apart.judge(&r)
	return r
}

// judge finds the most urgent that there is to say of a machine.
func (v *view) judge(r *machineRow) {
	now, over := v.byTime()
	groups := append(now, over...)
	for _, a := range groups {
		switch a.Level {
		case sampler.LevelCritical:
			r.open.critical++
		case sampler.LevelWarning:
			r.open.warned++
		default:
			r.open.notices++
		}
	}
	if len(groups) > 0 {
		r.said = groups[0].Text
		for _, level := range []string{sampler.LevelNotice, sampler.LevelWarning, sampler.LevelCritical} {
			if slices.ContainsFunc(pick(len(now) > 0, now, over), func(a watch.Group) bool { return a.Level == level }) {
				r.level = levelRole(level)
			}
		}
		return
	}
	for _, h := range v.headlines() {
		if h.id != "worst" { // the least free memory stands in the line; what comes next does not. Nothing is wrong yet.
			r.level, r.said = theme.Notice, v.headlineText(h)
			return
		}
	}
}

// How bad it is that a machine is lost, or that an alert is open there; below the next one, the part of its memory that its peaks took
// counts, in percent.
const (
	rankStep  = 1000.0
	rankOK    = iota * rankStep
	rankAsked // nothing has come yet
	rankNotice
	rankLate
	rankWarning
	rankCritical
	rankLost
)

// roomRoom is the same where most room is first, in GiB.
const roomRoom = 2.0

// roomOf is how much room a machine has: first of all on how many GPUs the need fits, then what is left on the best.
func (r *machineRow) roomOf() float64 {
	if r.v == nil || r.old() {
		return -1
	}
	return float64(r.fits)*rankStep + r.most.GiB()
}

// lostLong is after how long a machine that is lost is no news: it stands at the end.
const lostLong = time.Hour

// rankOf is how bad a machine stands.
func (r *machineRow) rankOf(now time.Time) float64 {
	rank := rankOK
	switch h := r.host; {
	case h.State == fleet.Lost && now.Sub(h.Since) > lostLong:
		return 0
	case h.State == fleet.Lost:
		return rankLost
	case r.level == theme.Critical:
		rank = rankCritical
	case r.level == theme.Warning:
		rank = rankWarning
	case h.State == fleet.Late:
		return rankLate
	case r.level == theme.Notice:
		rank = rankNotice
	case r.v == nil:
		return rankAsked
	}
	if r.least != nil {
		rank += 100 - min(percent(r.free, r.least.Memory.Total.Or(0)), 100)
	}
	return rank
}

// A machine that is better stays where it is for some time, for what is wrong comes and goes; and one must be worse by so much
// for it to pass another.
const rankRoom = 5.0

// survey makes the picture of all machines, unless one is open.
func (m *Model) survey() {
	if !m.overviewed() {
		return
	}
	f, still := m.fleet, m.shown.frozen && m.shown.snap != nil
	if !still {
		m.shown.snap = &sampler.Snapshot{Time: f.now()}
	}
	now := m.shown.snap.Time
	for _, k := range f.list {
		if k.fresh && !still || k.row.host == nil {
			k.row, k.fresh = m.rowOf(k), false
		}
		rank := k.row.rankOf(now)
		if rank >= k.rank || int(rank/rankStep) == int(k.rank/rankStep) || now.Sub(k.ranked) > roomTime {
			k.rank, k.ranked = rank, now
		}
	}
	f.count()
	f.order(now)
	f.rows = f.rows[:0:0]
	for _, k := range f.list {
		if m.table.filter.text == "" || k.fits(&m.table.filter) {
			f.rows = append(f.rows, k)
		}
	}
	slices.SortFunc(f.rows, func(a, b *machine) int { return cmp.Compare(a.place, b.place) })
	var snaps []*sampler.Snapshot
	for _, k := range f.rows {
		if k.row.v != nil && !k.row.old() {
			snaps = append(snaps, k.row.v.snap)
		}
	}
	f.groups = nil
	if m.table.begin(); f.by != ungrouped || m.table.filter.text != "" || m.view().arrangeFleet(m.tty.w, m.tty.h).procs.h > 0 { // thousands take long
		m.table.listAll(snaps, now)
	}
	if f.by != ungrouped {
		f.groups, _, _ = m.table.grouped(f.by)
	}
	f.stay()
}

// count counts what the machines have.
func (f *machines) count() {
	t := fleetTotal{hosts: map[fleet.State]int{}}
	for _, k := range f.list {
		r := &k.row
		t.hosts[r.host.State]++
		if r.v == nil || r.old() {
			continue
		}
		t.gpus, t.procs = t.gpus+r.gpus, t.procs+r.procs
		t.fits, t.places = t.fits+r.fits, t.places+r.of
		t.used, t.capacity = t.used+r.used, t.capacity+r.room
		t.notices, t.warned, t.critical = t.notices+r.open.notices, t.warned+r.open.warned, t.critical+r.open.critical
	}
	f.total = t
}

// hostOrder is what the machines are in order by.
type hostOrder int

const (
	worstFirst hostOrder = iota
	roomFirst            // where the need fits on most GPUs, then where most is left on one
	asAsked              // for
	hostOrders           // how many
)

// orderSays name the orders, in sentences of the catalog.
var orderSays = [hostOrders]string{"say.worst_first", "say.room_first", "say.as_asked"}

// order gives the machines their places.
func (f *machines) order(now time.Time) {
	list := slices.Clone(f.list)
	if f.ranked == asAsked {
		for i, k := range list {
			k.place = i
		}
		return
	}
	rank, room := func(k *machine) float64 { return k.rank }, rankRoom
	if f.ranked == roomFirst {
		rank, room = func(k *machine) float64 { return k.row.roomOf() }, roomRoom
	}
	if since := now.Sub(f.sorted); since >= orderTime || since < 0 {
		room, f.sorted = 0, now
	}
	slices.SortStableFunc(list, func(a, b *machine) int { return cmp.Compare(a.place, b.place) })
	for i, k := range calmly(list, rank, func(*machine) float64 { return room }) {
		k.place = i
	}
}

// fits says whether the filter leaves a machine: by its name, or by a process.
func (k *machine) fits(f *filter) bool {
	if f.fits(procRow{gpu: &sampler.GPU{Index: -1}, proc: &sampler.Process{}, host: k.host.Name}) {
		return true
	}
	if k.row.v == nil {
		return false
	}
	s := k.row.v.snap
	for i := range s.GPUs {
		g := &s.GPUs[i]
		for j := range g.Processes {
			if f.fits(procRow{gpu: g, proc: &g.Processes[j], snap: s, host: k.host.Name}) {
				return true
			}
		}
	}
	return false
}

// keys are what the rows are known by: machines or groups.
func (o *overview) keys() (list []string) {
	if o.by != ungrouped {
		for _, g := range o.groups {
			list = append(list, g.id)
		}
		return list
	}
	for _, k := range o.rows {
		list = append(list, k.host.Name)
	}
	return list
}

// size is how many rows there are.
func (o *overview) size() int { return pick(o.by == ungrouped, len(o.rows), len(o.groups)) }

// stay keeps the cursor on what it was on.
func (o *overview) stay() {
	keys := o.keys()
	if i := slices.Index(keys, o.follow); o.follow != "" && i >= 0 {
		o.cursor = i
	}
	o.cursor = max(0, min(o.cursor, len(keys)-1))
}

// move moves the cursor by some rows.
func (o *overview) move(by int) {
	if keys := o.keys(); len(keys) > 0 {
		o.cursor = max(0, min(o.cursor+by, len(keys)-1))
		o.follow = keys[o.cursor]
	}
}

// anew makes the rows anew, for something is set otherwise.
func (f *machines) anew() {
	for _, k := range f.list {
		k.fresh = true
	}
}

// each does something with the folds of each machine.
func (f *machines) each(do func(*folds)) {
	do(f.none)
	for _, k := range f.list {
		do(k.folds)
	}
}
