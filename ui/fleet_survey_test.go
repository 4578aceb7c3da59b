package ui

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"nvpeak/sampler"
	"nvpeak/sampler/demo"
	"nvpeak/sampler/fleet"
	"nvpeak/ui/notify"
)

// rowNames are the machines in the order in which they are shown.
func rowNames(m *Model) string { return strings.Join(m.fleet.keys(), " ") }

// TestFleetOrder: what is wrong comes first, and what only trembles does not change places.
func TestFleetOrder(t *testing.T) {
	u := hostsOf(5, 1, 1, afternoon)
	free := func(u fleet.Update, host int, gib sampler.Bytes) {
		m := &u.Snapshots[host].GPUs[0].Memory
		m.WorstFree, m.Used, m.Free = sampler.Some(gib*sampler.GiB), sampler.Some((80-gib)*sampler.GiB), sampler.Some(gib*sampler.GiB)
		m.Window, m.Peak.Bytes = nil, (80-gib)*sampler.GiB
	}
	for i, gib := range []sampler.Bytes{40, 60, 20, 50, 30} {
		free(u, i, gib)
	}
	m := fleetModel(u, 100, 30, Options{})
	second := 0
	next := func(change func(*fleet.Update)) string {
		second++
		v := hostsOf(5, 1, 1, afternoon.Add(time.Duration(second)*time.Second))
		for i := range v.Snapshots {
			v.Snapshots[i].GPUs[0].Memory = u.Snapshots[i].GPUs[0].Memory
		}
		v.Hosts = slices.Clone(u.Hosts)
		change(&v)
		u = v
		m.fleet.now = func() time.Time { return afternoon.Add(time.Duration(second) * time.Second) }
		m.Update(fleetArrived{Update: v})
		return rowNames(m)
	}
	state := func(host int, s fleet.State) func(*fleet.Update) {
		return func(u *fleet.Update) {
			h := *u.Hosts[host]
			h.State, h.Since = s, afternoon.Add(time.Duration(second)*time.Second)
			u.Hosts[host] = &h
		}
	}
	for _, step := range []struct {
		what   string
		change func(*fleet.Update)
		after  int // seconds more
		want   string
	}{
		{"the least free first", func(*fleet.Update) {}, 0, "node003 node005 node001 node004 node002"},
		{"two that are nearly equal stay", func(u *fleet.Update) { free(*u, 0, 29) }, 0, "node003 node005 node001 node004 node002"},
		{"one that is much worse does not", func(u *fleet.Update) { free(*u, 1, 10) }, 0, "node002 node003 node005 node001 node004"},
		{"lost is worse than all", state(3, fleet.Lost), 0, "node004 node002 node003 node005 node001"},
		{"late is less than lost", state(0, fleet.Late), 0, "node004 node001 node002 node003 node005"},
		{"one that comes back stays for a while", state(3, fleet.OK), 0, "node004 node001 node002 node003 node005"},
		{"and then does not", func(*fleet.Update) {}, 31, "node001 node002 node003 node005 node004"},
		{"in a minute all is in order", state(0, fleet.OK), 70, "node002 node003 node001 node005 node004"},
		{"lost for long is no news", state(2, fleet.Lost), 3700, "node002 node001 node005 node004 node003"},
	} {
		got := next(step.change)
		if step.after > 0 {
			second += step.after
			got = next(func(*fleet.Update) {})
		}
		if got != step.want {
			t.Errorf("%s: %s, want %s", step.what, got, step.want)
		}
	}
}

// TestFleetOfInstances: memory of MIG instances is that of their GPU, and counts once; the need fits on what a program can be given.
func TestFleetOfInstances(t *testing.T) {
	u := hostsOf(2, 3, 0, afternoon)
	g := u.Snapshots[0].GPUs
	g[1].MIG, g[2].MIG, g[1].Index, g[2].Index = &sampler.MIG{Index: 0}, &sampler.MIG{Index: 1}, 0, 0 // an exporter tells no more
	m := fleetModel(u, 120, 40, Options{Need: sampler.Some(sampler.GiB)})
	if got := m.fleet.total; got.gpus != 4 || got.capacity != 4*80*sampler.GiB || got.places != 5 || got.fits != 5 {
		t.Errorf("%+v", got)
	}
	if !strings.Contains(text(m), "1.0 GiB fits on 5 of 5 GPUs") || !strings.Contains(text(m), "fits 2/2") {
		t.Errorf("it does not say so:\n%s", text(m))
	}
}

// one is a stream that brings one update.
type one struct {
	nothingComes
	update *fleet.Update
}

func (s one) Next(ctx context.Context) (u fleet.Update, err error) {
	u, *s.update = *s.update, fleet.Update{}
	return u, nil
}

// TestFleetInParts: much that comes at once is taken in parts, all of it and in order, for keys count between them.
func TestFleetInParts(t *testing.T) {
	for _, n := range []int{1, partLeast, partLeast + 1, 125, 3000} {
		u := hostsOf(n, 1, 0, afternoon)
		m := fleetModel(fleet.Update{}, 80, 24, Options{})
		m.fleet.waited = true
		m.fleet.stream = one{update: &fleet.Update{Snapshots: u.Snapshots, Hosts: u.Hosts}}
		var got []*sampler.Snapshot
		parts := 0
		for more := true; more; parts++ {
			msg := m.waitForFleet().(fleetArrived)
			if (parts == 0) != (len(msg.Hosts) == n) {
				t.Fatalf("%d: part %d names %d hosts", n, parts, len(msg.Hosts))
			}
			got, more = append(got, msg.Snapshots...), msg.more
		}
		if !slices.Equal(got, u.Snapshots) || parts > partsMost || n > partLeast && parts == 1 {
			t.Errorf("%d snapshots came as %d in %d parts", n, len(got), parts)
		}
	}
}

// TestFleetWithoutLists: what exporters do not tell is not shown as nothing.
func TestFleetWithoutLists(t *testing.T) {
	u := hostsOf(2, 2, 0, afternoon)
	for _, s := range u.Snapshots {
		for i := range s.GPUs {
			m := &s.GPUs[i].Memory
			*m = sampler.Memory{Used: sampler.Some(9 * sampler.GiB)}
		}
	}
	lost := u.Snapshots[1].GPUs
	lost[1].Error, lost[1].Memory = sampler.Some("GPU is lost"), sampler.Memory{}
	m := fleetModel(u, 120, 24, Options{})
	got := text(m)
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 9})
	got += "\n" + text(m)
	for _, want := range []string{"it is not known who uses the memory", " 27.0G", "node001 ▓▓▓▓▓▓▓ ▓▓▓▓▓▓▓", "▓▓▓▓▓▓▓ !!!!!!!"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for _, none := range []string{"0 processes", "/0B"} {
		if strings.Contains(got, none) {
			t.Errorf("%q in\n%s", none, got)
		}
	}
}

// TestNeedIsNoAlertOfAFleet: that the need does not fit on some machine is no alert of all, but of that one when it is opened.
func TestNeedIsNoAlertOfAFleet(t *testing.T) {
	m := fleetModel(playFleet(t, demo.FleetName, 0), 120, 40, Options{Need: sampler.Some(20 * sampler.GiB)})
	if got := m.fleet.total; got.warned != 0 || got.critical != 1 || !strings.Contains(m.fleet.named("render-01").row.said, "peaks leave") {
		t.Errorf("%d critical, %d warnings; render-01: %q", got.critical, got.warned, m.fleet.named("render-01").row.said)
	}
	m.openMachine(m.fleet.named("render-01"))
	if got := text(m); !strings.Contains(got, "20.0 GiB won't fit") {
		t.Errorf("it does not say so:\n%s", got)
	}
}

// TestFleetOfOtherSources: what a figure lacks is said where nothing else is.
func TestFleetOfOtherSources(t *testing.T) {
	m := fleetModel(playFleet(t, demo.FleetName, 0), 120, 40, Options{})
	if !strings.Contains(text(m), "by nvidia-smi: peaks between two") {
		t.Errorf("nothing of what l40s-02 lacks in\n%s", text(m))
	}
	m.openMachine(m.fleet.named("l40s-02"))
	if !strings.Contains(text(m), "fleet, by nvidia-smi") {
		t.Errorf("nothing of it in\n%s", text(m))
	}
}

// TestFleetAlerts: an alert that is new is passed on with the name of its machine; those that were open are not.
func TestFleetAlerts(t *testing.T) {
	var told []sampler.Alert
	o := Options{Notify: Notify{Terminal: notify.Terminal{}, Report: func(a sampler.Alert) { told = append(told, a) }}}
	u := playFleet(t, demo.FleetName, 0)
	m := fleetModel(u, 120, 40, o)
	if len(told) > 0 {
		t.Fatalf("what was open is passed on: %s", told[0].Text)
	}
	later := playFleet(t, demo.FleetName, 70)
	m.Update(fleetArrived{Update: fleet.Update{Snapshots: later.Snapshots[len(u.Snapshots):]}})
	if len(told) == 0 {
		t.Fatal("no alert in 70 s")
	}
	for _, a := range told {
		host, _, _ := strings.Cut(a.Text, ": ")
		if m.fleet.named(host) == nil {
			t.Errorf("%q names no machine", a.Text)
		}
	}
}

// TestSameProcessOnTwoMachines: equal GPUs, pids and launchers of two machines are two.
func TestSameProcessOnTwoMachines(t *testing.T) {
	u := hostsOf(2, 2, 2, afternoon)
	m := fleetModel(u, 120, 40, Options{})
	seen := map[sampler.ProcessKey]bool{}
	for _, r := range m.table.rows {
		seen[r.key()] = true
	}
	if want := 2 * (2*2 + 2); len(m.table.rows) != want || len(seen) != want {
		t.Errorf("%d rows with %d keys, want %d", len(m.table.rows), len(seen), want)
	}
	press(m, "tab t t")
	for _, r := range m.table.rows {
		if r.head != nil && len(r.head.hosts()) != 1 && r.proc != nil {
			t.Errorf("%s is on %v", r.head.name, r.head.hosts())
		}
	}
}
