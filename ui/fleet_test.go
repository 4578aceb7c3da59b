package ui

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"nvpeak/sampler"
	"nvpeak/sampler/demo"
	"nvpeak/sampler/fleet"
	"nvpeak/theme"
	"nvpeak/ui/notify"
)

// fleetGoldens are whole screens of several machines; see goldens.
var fleetGoldens = []struct {
	name    string
	seconds int // after it was opened
	w, h    int
	keys    string
	o       Options
}{
	{"fleet-30x6", 0, 30, 6, "", Options{}},
	{"fleet-40x8", 0, 40, 8, "", Options{}},
	{"fleet-60x14-zh", 0, 60, 14, "", Options{Lang: "zh"}},
	{"fleet-80x24", 0, 80, 24, "", Options{}},
	{"fleet-80x24-ascii", 0, 80, 24, "", Options{ASCII: true}},
	{"fleet-120x40", 0, 120, 40, "", Options{}},
	{"fleet-120x40-zh", 0, 120, 40, "", Options{Lang: "zh"}},
	{"fleet-200x60", 0, 200, 60, "", Options{}},
	{"need-100x30", 0, 100, 30, "n 2 0 G enter", Options{}},
	{"room-100x30", 0, 100, 30, "n 1 2 G enter w", Options{}},
	{"back-100x30", 30, 100, 30, "", Options{}},
	{"users-100x30", 0, 100, 30, "t", Options{}},
	{"user-100x30", 0, 100, 30, "t j enter", Options{}},
	{"jobs-100x30-zh", 0, 100, 30, "t t", Options{Lang: "zh"}},
	{"filter-100x30", 0, 100, 30, "/ h 1 0 0 space s l u r m enter", Options{}},
	{"processes-80x24", 0, 80, 24, "tab j j", Options{}},
	{"advice-100x30", 0, 100, 30, "a", Options{}},
	{"help-100x44", 0, 100, 44, "?", Options{}},
	{"lost-100x30", 0, 100, 30, "enter", Options{}},
	{"late-40x8", 0, 40, 8, "/ h 1 0 0 - 0 3 enter enter", Options{}},
}

func TestFleetScreens(t *testing.T) {
	const dir = screens + "fleet/"
	for _, g := range fleetGoldens {
		g.o.Label = "DEMO fleet"
		m := fleetModel(playFleet(t, demo.FleetName, g.seconds), g.w, g.h, g.o)
		press(m, g.keys)
		checkScreen(t, g.name, m)
		checkGolden(t, dir+g.name+".txt", ansi.Strip(m.View().Content)+"\n")
	}
	files, err := filepath.Glob(dir + "*.txt")
	if err != nil || len(files) != len(fleetGoldens) {
		t.Errorf("%d files for %d screens, %v", len(files), len(fleetGoldens), err)
	}
}

// fleets are those that must be shown at any size.
func fleets() map[string]fleet.Update {
	states := []fleet.State{fleet.OK, fleet.Late, fleet.Lost, fleet.Connecting}
	odd := hostsOf(len(hostile)*2, 3, 2, afternoon)
	for i, h := range odd.Hosts {
		h.Name = fmt.Sprint(hostile[i%len(hostile)], i/len(hostile))
		h.State, h.Reason, h.Via, h.Source = states[i%len(states)], hostile[(i+1)%len(hostile)], hostile[(i+2)%len(hostile)], hostile[(i+3)%len(hostile)]
		h.Retry = sampler.Some(afternoon.Add(time.Duration(i) * time.Minute))
		s := gpus(i%11, i%3, true)
		s.Host, s.Time = h.Name, afternoon
		odd.Snapshots[i] = s
	}
	quiet := hostsOf(3, 2, 1, afternoon)
	quiet.Snapshots = nil
	for _, h := range quiet.Hosts {
		h.State = fleet.Connecting
	}
	return map[string]fleet.Update{
		"nothing yet": {}, "no host": {Hosts: []*fleet.Host{}}, "connecting": quiet, "one": hostsOf(1, 1, 1, afternoon), "three": hostsOf(3, 8, 2, afternoon),
		"many": hostsOf(125, 8, 1, afternoon), "wide": hostsOf(2, 64, 2, afternoon), "no GPU": hostsOf(3, 0, 0, afternoon), "odd": odd,
	}
}

// TestFleetAtEverySize draws every fleet at small sizes of all kinds and at random larger ones, in every mode.
func TestFleetAtEverySize(t *testing.T) {
	rnd := rand.New(rand.NewPCG(16, 4))
	modes := []string{"", "?", "a", "t", "t t j", "tab", "tab j t", "enter", "enter a", "j j j enter enter", "t enter", "t t enter", "/ n o d e 0 enter", "/ x x x", "n 1 6", "G", "p"}
	for name, u := range fleets() {
		m := fleetModel(u, 80, 24, Options{Label: "DEMO \x1b[1mx", Need: sampler.Some(20 * sampler.GiB)})
		for i, keys := range modes {
			m.fleet.now = func() time.Time { return newestOf(u).Add(time.Duration(i) * time.Minute) }
			press(m, keys)
			for _, size := range [][2]int{{1, 1}, {2, 3}, {7, 2}, {30, 6}, {31, 7}, {40, 8}, {59, 29}, {60, 30}, {80, 24}, {1 + rnd.IntN(220), 1 + rnd.IntN(70)}, {1 + rnd.IntN(60), 1 + rnd.IntN(30)}} {
				m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
				checkScreen(t, fmt.Sprintf("%s, %q", name, keys), m)
			}
			m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
			press(m, "esc esc esc esc esc esc esc p p")
		}
	}
}

// TestOpenedMachine opens each machine of a fleet: its screen is that of the machine alone, but for the word that says how it
// stands, and the key that leads back.
func TestOpenedMachine(t *testing.T) {
	u := playFleet(t, demo.FleetName, 0)
	for _, h := range u.Hosts {
		var snaps []*sampler.Snapshot
		for _, s := range u.Snapshots {
			if s.Host == h.Name {
				snaps = append(snaps, s)
			}
		}
		for _, keys := range []string{"", "j", "enter", "t t", "a", "2", "m", "] [", "w"} {
			alone := model(snaps, 160, 50, Options{Label: "DEMO fleet"})
			m := fleetModel(u, 160, 50, Options{Label: "DEMO fleet"})
			m.openMachine(m.fleet.named(h.Name))
			press(m, keys)
			press(alone, keys)
			got, want := strings.Split(text(m), "\n"), strings.Split(text(alone), "\n")
			if !strings.Contains(got[0], m.standing(h).text) || h.State == fleet.Lost && !strings.Contains(got[0], "LOST since 14:0") {
				t.Errorf("%s: it does not say how it stands: %s", h.Name, got[0])
			}
			last := len(got) - 1
			if d := difference(strings.Join(want[1:last], "\n"), strings.Join(got[1:last], "\n")); d != "" {
				t.Fatalf("%s, %q:\n%s", h.Name, keys, d)
			}
		}
	}
}

// TestOldFiguresAreMarked: a bar of a machine that is lost has the color of no level.
func TestOldFiguresAreMarked(t *testing.T) {
	u := playFleet(t, demo.FleetName, 0)
	for _, size := range [][2]int{{80, 24}, {200, 60}} {
		m := fleetModel(u, size[0], size[1], Options{})
		row := &m.fleet.named("a100-03").row
		before := m.View().Content
		if !row.old() {
			t.Fatal("a100-03 is not lost")
		}
		ok := *row.host
		ok.State = fleet.OK
		row.host = &ok
		if m.View().Content == before {
			t.Errorf("%v: old figures look like new ones", size)
		}
	}
}

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

// TestFleetCursor: it stays on its machine wherever that goes, and in its row until somebody moves it.
func TestFleetCursor(t *testing.T) {
	u := playFleet(t, demo.FleetName, 0)
	m := fleetModel(u, 120, 40, Options{})
	press(m, "G k k")
	if at := m.fleet.rows[m.fleet.cursor].host.Name; at != "l40s-02" {
		t.Fatalf("the cursor is on %s", at)
	}
	hosts := slices.Clone(u.Hosts)
	for i, h := range hosts {
		if h.Name == "l40s-02" {
			c := *h
			c.State, c.Since = fleet.Lost, afternoon
			hosts[i] = &c
		}
	}
	m.Update(fleetArrived{Update: fleet.Update{Hosts: hosts}})
	if m.fleet.rows[m.fleet.cursor].host.Name != "l40s-02" {
		t.Errorf("the cursor is on row %d, %s", m.fleet.cursor, m.fleet.rows[m.fleet.cursor].host.Name)
	}
	press(m, "enter")
	if m.fleet.open == nil || m.fleet.open.host.Name != "l40s-02" || !strings.Contains(text(m), "LOST since") {
		t.Error("Enter does not open it")
	}
	m.Update(fleetArrived{Update: fleet.Update{Hosts: slices.DeleteFunc(hosts, func(h *fleet.Host) bool { return h.Name == "l40s-02" })}})
	if !m.overviewed() || strings.Contains(text(m), "l40s-02") {
		t.Error("a machine that is no more is still shown")
	}
}

func TestFleetKeys(t *testing.T) {
	u := playFleet(t, demo.FleetName, 0)
	for _, row := range []struct {
		keys string
		open string
		want []string // on the screen
		none []string
	}{
		{"", "", []string{"12 hosts", "9 ok", "1 late", "2 lost", "44 GPUs", "a100-03", "Tab processes"}, nil},
		{"3", "desk-dan", []string{"Esc all hosts", "GeForce RTX 4090"}, []string{"12 hosts"}},
		{"3 esc", "", []string{"12 hosts"}, nil},
		{"enter j enter esc esc esc", "", []string{"12 hosts"}, nil},
		{"j enter", "l40s-03", []string{"LOST since 14:0", "old figures"}, nil},
		{"t", "", []string{"USER", "svc-llm", "949.9", " 23 "}, []string{"MIN FREE"}},
		{"w", "", []string{"most room first", "MAX FREE"}, nil},
		{"w 1", "desk-dan", nil, nil},
		{"w w 1", "h100-01", nil, nil},
		{"w w w 1", "a100-03", nil, nil},
		{"n 2 0 G enter w 1", "a100-01", nil, nil},
		{"t t", "", []string{"JOB", "slurm 88213"}, nil},
		{"t t t", "", []string{"MIN FREE"}, nil},
		{"t j enter", "", []string{"/user:svc-llm", "h100-01", "a100-02"}, []string{"desk-dan", "l40s-01"}},
		{"t j enter esc", "", []string{"desk-dan"}, nil},
		{"/ d e s k enter", "", []string{"desk-dan"}, []string{"a100-03", "h100-01"}},
		{"/ h o s t : l 4 0 s enter", "", []string{"l40s-01", "l40s-02"}, []string{"desk-dan", "h100-01"}},
		{"/ p r e t r a i n enter", "", []string{"h100-01"}, []string{"desk-dan"}},
		{"/ n o s u c h enter", "", []string{"no host fits the filter"}, []string{"desk-dan"}},
		{"tab enter", "a100-02", []string{"22602", "Esc all hosts"}, nil},
		{"tab K", "", []string{"these processes run on another machine"}, nil},
		{"enter K", "a100-03", []string{"these processes run on another machine"}, nil},
		{"enter P", "a100-03", nil, []string{"reset"}},
		{"?", "", []string{"open the host"}, []string{"signal a process", "reset the peaks"}},
		{"a", "", []string{"No route to host", "Halve the batch size"}, nil},
		{"n 2 0 G enter", "", []string{"20.0 GiB fits on 7 of 44 GPUs", "FITS", " 1/2 "}, nil},
		{"n 2 0 G enter n enter", "", nil, []string{"FITS"}},
		{"n 2 0 G enter 3", "desk-dan", []string{"20.0 GiB fits on 1 of 2 GPUs"}, nil},
		{"3 n 2 0 G enter esc 4", "h100-03", []string{"20.0 GiB fits on 1 of 8 GPUs"}, nil},
	} {
		m := fleetModel(u, 120, 40, Options{})
		press(m, row.keys)
		open := ""
		if m.fleet.open != nil {
			open = m.fleet.open.host.Name
		}
		screen := text(m)
		if open != row.open {
			t.Errorf("%q: %q is open, want %q", row.keys, open, row.open)
		}
		for _, want := range row.want {
			if !strings.Contains(screen, want) {
				t.Errorf("%q: no %q in\n%s", row.keys, want, screen)
			}
		}
		for _, none := range row.none {
			if strings.Contains(screen, none) {
				t.Errorf("%q: %q in\n%s", row.keys, none, screen)
			}
		}
	}
}

// TestFleetJobsOfOneName: the cursor stays on the job that it is on, whatever another one is called.
func TestFleetJobsOfOneName(t *testing.T) {
	u := playFleet(t, demo.FleetName, 0)
	m := fleetModel(u, 120, 40, Options{})
	press(m, "t t j j j")
	at := m.fleet.groups[m.fleet.cursor]
	if at.name != m.fleet.groups[1].name {
		t.Fatalf("the jobs are %q and %q", at.name, m.fleet.groups[1].name)
	}
	if m.survey(); m.fleet.cursor != 3 {
		t.Errorf("the cursor is on row %d", m.fleet.cursor)
	}
	press(m, "enter")
	if m.fleet.open == nil || m.fleet.open.host.Name != at.first.host {
		t.Errorf("Enter does not open %s", at.first.host)
	}
}

// TestOneMachine: a fleet of one has nothing to choose, until somebody goes back.
func TestOneMachine(t *testing.T) {
	u := hostsOf(1, 2, 1, afternoon)
	m := fleetModel(fleet.Update{Hosts: u.Hosts}, 100, 30, Options{})
	if !m.overviewed() {
		t.Error("a machine is open of which nothing has come")
	}
	m.Update(fleetArrived{Update: fleet.Update{Snapshots: u.Snapshots}})
	if m.overviewed() {
		t.Error("it is not open")
	}
	press(m, "esc")
	next := hostsOf(1, 2, 1, afternoon.Add(time.Second))
	m.Update(fleetArrived{Update: fleet.Update{Snapshots: next.Snapshots}})
	if !m.overviewed() {
		t.Error("it opens again")
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

// TestFrozenFleetGrows: a machine that comes while the display is frozen is shown, the others stay as they are.
func TestFrozenFleetGrows(t *testing.T) {
	u := hostsOf(3, 2, 1, afternoon)
	m := fleetModel(fleet.Update{Hosts: u.Hosts[:2], Snapshots: u.Snapshots[:2]}, 100, 30, Options{})
	press(m, "p")
	later := hostsOf(3, 2, 1, afternoon.Add(5*time.Minute))
	for i := range later.Snapshots[0].GPUs {
		later.Snapshots[0].GPUs[i].Memory.Used = sampler.Some(3 * sampler.MiB)
	}
	m.fleet.now = func() time.Time { return afternoon.Add(5 * time.Minute) }
	m.Update(fleetArrived{Update: later})
	if got := text(m); !strings.Contains(got, "3 hosts") || !strings.Contains(got, "node003") || strings.Contains(got, "3M") {
		t.Errorf("it shows\n%s", got)
	}
}

// TestFleetUserWithoutName: processes of which no user is known are those of somebody, on their machine.
func TestFleetUserWithoutName(t *testing.T) {
	for _, user := range []string{"", "two words", "ann"} {
		u := hostsOf(2, 1, 1, afternoon)
		for _, s := range u.Snapshots {
			s.GPUs[0].Processes[0].User = user
		}
		m := fleetModel(u, 100, 30, Options{})
		press(m, "t enter")
		if open := m.fleet.open != nil; open != (user != "ann") || !open && m.fleet.size() != 2 {
			t.Errorf("%q: open is %v, %d rows, filter %q", user, open, m.fleet.size(), m.table.filter.text)
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

// TestFleetRoles: what is next to nothing has the color of its level, what is not has none; old figures are dim.
func TestFleetRoles(t *testing.T) {
	m := fleetModel(playFleet(t, demo.FleetName, 0), 100, 30, Options{})
	v := m.view()
	for _, row := range []struct {
		host       string
		free, peak theme.Role
	}{{"a100-03", theme.Dim, theme.Dim}, {"desk-dan", theme.Critical, theme.Critical}, {"a100-02", theme.Text, theme.Peak}} {
		at := slices.Index(m.fleet.keys(), row.host)
		for _, l := range v.listColumns(98) {
			want, looked := map[string]theme.Role{"MIN FREE": row.free, "▲PEAK": row.peak}[l.title]
			if looked && l.text(at).role != want {
				t.Errorf("%s of %s has role %d, want %d", l.title, row.host, l.text(at).role, want)
			}
		}
	}
}

// TestSlitNotice: where there is no footer a message takes the last line.
func TestSlitNotice(t *testing.T) {
	m := fleetModel(playFleet(t, demo.FleetName, 0), 40, 8, Options{})
	press(m, "t")
	lines := strings.Split(text(m), "\n")
	if last := lines[len(lines)-1]; !strings.Contains(last, "a row for each user") {
		t.Errorf("the last line is %q", last)
	}
}

// TestUnheardMachine: one that was opened before anything has come says how it stands, and not that of a driver.
func TestUnheardMachine(t *testing.T) {
	u := fleets()["connecting"]
	m := fleetModel(u, 80, 24, Options{})
	press(m, "enter")
	if got := text(m); !strings.Contains(got, "node001: connecting") || strings.Contains(got, "driver") {
		t.Errorf("it says\n%s", got)
	}
	press(m, "esc")
	if !m.overviewed() {
		t.Error("Esc does not go back")
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

// TestClickedProcess: a click on a process of the fleet selects it, another one opens it on its machine.
func TestClickedProcess(t *testing.T) {
	m := fleetModel(playFleet(t, demo.FleetName, 0), 120, 40, Options{})
	y := slices.IndexFunc(strings.Split(text(m), "\n"), func(line string) bool { return strings.Contains(line, "21877") })
	click := tea.MouseClickMsg(tea.Mouse{X: 20, Y: y, Button: tea.MouseLeft})
	m.Update(click)
	if row, ok := m.table.selected(); !ok || !m.fleet.listed || row.proc.PID != 21877 {
		t.Fatal("a click does not select it")
	}
	text(m)
	if m.Update(click); m.fleet.open == nil || m.fleet.open.host.Name != "a100-02" {
		t.Fatal("a second click does not open it")
	}
	if row, ok := m.table.selected(); !ok || row.proc.PID != 21877 {
		t.Error("it is not selected there")
	}
}

// TestFrozenFleet stays as it is, and nothing is lost.
func TestFrozenFleet(t *testing.T) {
	m := fleetModel(playFleet(t, demo.FleetName, 0), 120, 40, Options{})
	press(m, "p")
	before := text(m)
	all := playFleet(t, demo.FleetName, 30)
	m.fleet.now = func() time.Time { return newestOf(all) }
	m.Update(fleetArrived{Update: fleet.Update{Hosts: all.Hosts, Snapshots: all.Snapshots[len(playFleet(t, demo.FleetName, 0).Snapshots):]}})
	if text(m) != before {
		t.Errorf("a frozen screen moves:\n%s", difference(before, text(m)))
	}
	if press(m, "p"); !strings.Contains(text(m), "1 lost") {
		t.Errorf("it does not go on:\n%s", text(m))
	}
}

// TestFleetClicks: a click selects a machine, another one opens it.
func TestFleetClicks(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {200, 60}} {
		m := fleetModel(playFleet(t, demo.FleetName, 0), size[0], size[1], Options{})
		x, y := -1, -1
		for row, line := range strings.Split(text(m), "\n") {
			if at := strings.Index(line, "desk-dan"); at >= 0 && x < 0 {
				x, y = width(line[:at]), row
			}
		}
		click := tea.MouseClickMsg(tea.Mouse{X: x, Y: y, Button: tea.MouseLeft})
		m.Update(click)
		if m.fleet.open != nil || m.fleet.rows[m.fleet.cursor].host.Name != "desk-dan" {
			t.Errorf("%v: a click does not select it", size)
		}
		text(m)
		if m.Update(click); m.fleet.open == nil || m.fleet.open.host.Name != "desk-dan" {
			t.Errorf("%v: a second click does not open it", size)
		}
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
