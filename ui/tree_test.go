package ui

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"nvpeak/sampler"
)

// family is a snapshot of processes with their parents: pid and chain.
func family(chains map[int][]sampler.Parent, on map[int][]int) *sampler.Snapshot {
	s := gpus(4, 0, false)
	for i := range s.GPUs {
		s.GPUs[i].Memory.Unattributed = sampler.Opt[sampler.Bytes]{}
	}
	for pid := range 1000 {
		for _, gpu := range on[pid] {
			s.GPUs[gpu].Processes = append(s.GPUs[gpu].Processes, sampler.Process{PID: pid, Name: "python", User: "ann", Command: fmt.Sprintf("run %d", pid), Visible: true,
				Memory: sampler.Some(sampler.Bytes(20-pid%20) * sampler.GiB), Parents: chains[pid]})
		}
	}
	return s
}

// drawnTree is the tree as it stands in the table.
func drawnTree(m *Model) (lines []string) {
	for _, r := range m.table.rows {
		switch {
		case r.head != nil:
			lines = append(lines, r.head.indent+r.head.name+": "+strings.TrimSpace(r.head.text(m.words)))
		case r.proc == nil:
			lines = append(lines, "-")
		default:
			lines = append(lines, fmt.Sprintf("%s%d", r.indent, r.proc.PID))
		}
	}
	return lines
}

// A line that stands for several processes has no environment of its own, and says so in its own words.
func TestEnvironmentOfGroup(t *testing.T) {
	launch := sampler.Parent{PID: 50, Name: "torchrun"}
	m := model([]*sampler.Snapshot{family(map[int][]sampler.Parent{101: {launch}, 102: {launch}}, map[int][]int{101: {0}, 102: {1}})}, 100, 30, Options{})
	press(m, "t g e")
	if row, ok := m.table.selected(); !ok || row.head == nil || m.notices.text != m.words.Say("say.environment_whose") || m.prompt.mode != modeMain {
		t.Errorf("%+v, %q, mode %d", row.head, m.notices.text, m.prompt.mode)
	}
}

// Ranks stand below their launcher with its totals, their workers below them, and what only shares a session stands alone.
func TestTree(t *testing.T) {
	tmux := sampler.Parent{PID: 5, Name: "tmux: server"}
	bash := sampler.Parent{PID: 7, Name: "bash"}
	launch := sampler.Parent{PID: 50, Name: "torchrun"}
	rank := sampler.Parent{PID: 101, Name: "python"}
	chains := map[int][]sampler.Parent{
		101: {launch, bash, tmux}, 102: {launch, bash, tmux}, 103: {{PID: 60, Name: "sh"}, launch, bash, tmux}, 111: {rank, launch, bash, tmux},
		112: {{PID: 61, Name: "worker"}, rank, launch}, 200: {{PID: 8, Name: "bash"}, tmux}, 300: nil,
	}
	on := map[int][]int{101: {0}, 102: {1, 2}, 103: {3}, 111: {0}, 112: {0}, 200: {2}, 300: {3}}
	m := model(past(family(chains, on), 3), 160, 50, Options{})
	press(m, "t")
	want := []string{"200", "300", "torchrun 50: 89.0 GiB on 4 GPUs", "├─ 101", "│  ├─ 111", "│  └─ 112", "├─ 102", "│  102", "└─ 103"}
	if m.err != nil {
		t.Fatal(m.err)
	}
	got := drawnTree(m)
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("the tree is\n%s, want\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	screen := text(m)
	for _, want := range []string{"89.0 GiB on 4 GPUs", " torchrun 50", "├─ run 101", "│  └─ run 112"} {
		if !strings.Contains(screen, want) {
			t.Errorf("no %q:\n%s", want, screen)
		}
	}
	m.opt.ASCII = true
	if screen := text(m); !strings.Contains(screen, "+- run 101") || !strings.Contains(screen, "|  +- run 112") {
		t.Errorf("in ASCII:\n%s", screen)
	}
}

// Whatever parents a recording names, each row is there once, and the screen holds.
func TestTreeOfAnything(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 3))
		chains, on := map[int][]sampler.Parent{}, map[int][]int{}
		rows := 0
		for range 1 + rng.IntN(12) {
			pid := 1 + rng.IntN(15)
			if len(on[pid]) > 0 {
				continue
			}
			for range 1 + rng.IntN(2) {
				on[pid] = append(on[pid], rng.IntN(4))
				rows++
			}
			for range rng.IntN(8) {
				chains[pid] = append(chains[pid], sampler.Parent{PID: rng.IntN(20) - 2, Name: hostile[rng.IntN(len(hostile))]})
			}
		}
		m := model(past(family(chains, on), 3), 100, 40, Options{})
		press(m, "t")
		for _, r := range m.table.rows {
			if r.proc != nil {
				rows--
			}
		}
		if rows != 0 {
			t.Fatalf("seed %d: %d rows are missing:\n%s", seed, rows, strings.Join(drawnTree(m), "\n"))
		}
		checkScreen(t, fmt.Sprint("seed ", seed), m)
	}
}
