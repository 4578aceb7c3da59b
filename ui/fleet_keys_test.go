package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"nvpeak/sampler"
	"nvpeak/sampler/demo"
	"nvpeak/sampler/fleet"
)

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
		{"n 2 0 G enter", "", []string{"20.0 GiB fits on 6 of 44 GPUs", "FITS", " 1/2 "}, nil},
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
