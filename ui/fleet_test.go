package ui

import (
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
	for i, h := range u.Hosts {
		var snaps []*sampler.Snapshot
		for _, s := range u.Snapshots {
			if s.Host == h.Name {
				snaps = append(snaps, s)
			}
		}
		all := []string{"j", "enter", "t t", "a", "2", "m", "] [", "w"}
		for _, keys := range []string{"", all[2*i%len(all)], all[(2*i+1)%len(all)]} {
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
