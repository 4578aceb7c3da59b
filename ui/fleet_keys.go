package ui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// What the keys of the screen of all machines do.

// sharedKeys are those of the main screen that do the same for all machines.
var sharedKeys = []string{"q", "?", "n", "a", "j", "k", "pgdown", "pgup", "g", "G", "home", "end", "/", "o", "O", "right", "left", "K", "p", "T", "s", "ctrl+l", "ctrl+z", "esc"}

// ofFleet are those of its own.
var ofFleet = []binding{
	{[]string{"enter"}, "Enter", "key.open_host", (*Model).openDetail, nil},
	{[]string{"1"}, "1-9", "key.open_nth", nil, nil}, // see Model.key
	{[]string{"tab"}, "Tab", "key.fleet_list", (*Model).focusNext, nil},
	{[]string{"w"}, "w", "key.fleet_order", (*Model).orderNext, nil},
	{[]string{"t"}, "t", "key.fleet_by", (*Model).groupNext, nil},
}

// fleetKeys are the keys of the screen of all machines; a digit opens one, see Model.key.
func (m *Model) fleetKeys() (list []binding) {
	for _, b := range mainKeys {
		if slices.Contains(sharedKeys, b.keys[0]) && (b.only == nil || b.only(m)) {
			list = append(list, b)
		}
	}
	return slices.Insert(list, 4, ofFleet...)
}

// fleetHints are those in the footer, and machineHints what stands before those of a machine that is open.
var (
	fleetHints = []hint{{"?", "hint.help"}, {"q", "hint.quit"}, {"Enter", "hint.open"}, {"/", "hint.filter"}, {"Tab", "hint.processes"}, {"t", "hint.by"},
		{"a", "hint.advice"}, {"n", "hint.need"}, {"o", "hint.sort"}, {"s", "hint.setup"}, {"p", "hint.freeze"}, {"T", "hint.theme"}}
	listedHints   = []hint{{"t", "hint.group"}, {"j k", "hint.select"}, {"/", "hint.filter"}, {"Enter", "hint.open"}, {"o", "hint.sort"}, {"Tab", "hint.hosts"}}
	unlistedHints = []hint{{"Tab", "hint.processes"}, {"o", "hint.sort"}}
	machineHints  = []hint{{"Esc", "hint.fleet"}}
)

// fleetStand is what a key may change of it and the eye sees.
type fleetStand struct {
	open, follow string
	cursor       int
	by           grouping
	listed       bool
	order        hostOrder
}

func (f *machines) stand() (s fleetStand) {
	if f == nil {
		return s
	}
	s = fleetStand{"", f.follow, f.cursor, f.by, f.listed, f.ranked}
	if f.open != nil {
		s.open = f.open.host.Name
	}
	return s
}

// openSelected opens what the cursor is on: a machine, the processes of a user, a job or a process on its machine.
func (m *Model) openSelected() tea.Cmd {
	f := m.fleet
	switch row, ok := m.table.selected(); {
	case f.listed && ok:
		return m.openProcess(row)
	case f.listed || f.cursor >= len(f.keys()):
		return nil
	case f.by == byUser && len(strings.Fields(f.groups[f.cursor].first.proc.User)) == 1: // a word of a filter
		m.prompt.typed = "user:" + f.groups[f.cursor].first.proc.User
		f.by, f.follow, f.cursor = ungrouped, "", 0
		m.setFilter()
		m.prompt.typed, m.notices.text = "", ""
	case f.by != ungrouped:
		return m.openProcess(f.groups[f.cursor].first)
	default:
		m.openMachine(f.rows[f.cursor])
	}
	return nil
}

// openAt opens the machine of a row.
func (m *Model) openAt(row int) tea.Cmd {
	if f := m.fleet; f.by == ungrouped && row < len(f.rows) {
		m.openMachine(f.rows[row])
	}
	return nil
}

// openProcess opens the machine of a process, with the cursor on that.
func (m *Model) openProcess(row procRow) tea.Cmd {
	k := m.fleet.named(row.host)
	if k == nil {
		return nil
	}
	of := row.head
	m.openMachine(k)
	if row.host = ""; row.proc == nil || of != nil {
		return nil
	}
	key := row.key()
	m.table.follow = &key
	m.list()
	return nil
}

// groupMachines shows users instead of machines, or jobs.
func (m *Model) groupMachines() tea.Cmd {
	f := m.fleet
	next := map[grouping]grouping{ungrouped: byUser, byUser: byJob, byJob: ungrouped}
	f.by, f.cursor, f.follow = next[f.by], 0, ""
	m.survey()
	return m.note(m.words.Say(map[grouping]string{ungrouped: "say.fleet_hosts", byUser: "say.fleet_users", byJob: "say.fleet_jobs"}[f.by]))
}

// orderNext puts the machines in the next order.
func (m *Model) orderNext() tea.Cmd {
	f := m.fleet
	f.ranked, f.sorted, f.follow, f.cursor = (f.ranked+1)%hostOrders, time.Time{}, "", 0
	m.survey()
	return m.note(m.words.Say(orderSays[f.ranked]))
}

// escapeFleet takes back one thing.
func (m *Model) escapeFleet() {
	f := m.fleet
	switch {
	case f.listed:
		f.listed = false
		m.table.leave()
	case f.by != ungrouped:
		f.by, f.cursor, f.follow = ungrouped, 0, ""
	default:
		f.cursor, f.follow = 0, ""
	}
	m.survey()
}

// listNext lets the keys act on the processes, or on the machines again.
func (m *Model) listNext() {
	m.fleet.listed = !m.fleet.listed
	if m.survey(); m.fleet.listed {
		m.table.move(0)
	} else {
		m.table.leave()
	}
}

// clickMachine selects a row; a click on the selected one opens it.
func clickMachine(row int, key string) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		f := m.fleet
		if again := !f.listed && f.follow == key; again {
			return m.openSelected()
		}
		f.listed, f.cursor, f.follow = false, row, key
		m.table.leave()
		m.survey()
		return nil
	}
}
