package ui

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
	"nvpeak/sampler/history"
)

// state is what keys change, in words.
func state(m *Model) string {
	focus := -1
	for i := range m.shown.snap.GPUs {
		if &m.shown.snap.GPUs[i] == m.gpus.focused(m.shown.snap) {
			focus = i
		}
	}
	return fmt.Sprintf("mode %d focus %d scroll %d cursor %d sort %s reverse %v span %v metric %s frozen %v need %v theme %s interval %v resets %d worst %v",
		m.prompt.mode, focus, m.gpus.scroll, m.table.cursor, columns[m.table.sort].title, m.table.reverse, m.plot.span, m.plot.metric.name, m.shown.frozen,
		m.folds.watch.Need().Or(0), m.tty.paint.theme.Name, m.stream.(*silent).interval, m.stream.(*silent).resets, m.gpus.worstFirst)
}

// What can be plotted has a history, a name in every language and a top.
func TestPlotMetrics(t *testing.T) {
	h := history.New(time.Second)
	s := gpus(1, 0, false)
	h.Add(s)
	for _, m := range plotMetrics {
		if h.GPU(s.GPUs[0].Key()).Plot(m.name) == nil {
			t.Errorf("%s has no history: Plot in sampler/metrics.go", m.name)
		}
		for _, language := range lang.Names() {
			if id := "metric." + m.title; !lang.For(language).Has(id) {
				t.Errorf("%s: no sentence %q", language, id)
			}
		}
		if m.unit <= 0 || m.top(&s.GPUs[0]) <= 0 {
			t.Errorf("%s has no axis", m.name)
		}
	}
}

// TestKeys: keys, and all that they change.
func TestKeys(t *testing.T) {
	snaps := past(gpus(8, 2, false), 5) // 16 processes, and 8 rows of unattributed memory
	initial := state(model(snaps, 120, 40, Options{Theme: "dark"}))
	for _, row := range []struct{ keys, was, is string }{
		{"[", "span 5m0s", "span 1m0s"},
		{"[ [ [", "span 5m0s", "span 1m0s"},
		{"]", "span 5m0s", "span 15m0s"},
		{"] ] ] ] ] ]", "span 5m0s", "span 24h0m0s"},
		{"m", "metric memory.used", "metric utilization.gpu"},
		{strings.Repeat("m ", len(plotMetrics)), "", ""}, // once round
		{"3", "focus -1", "focus 2"},
		{"8", "focus -1", "focus 7"},
		{"9", "", ""},
		{"3 0", "", ""},
		{"tab", "focus -1", "focus 0"},
		{"8 tab", "focus -1", "focus 0"},
		{"w", "worst false", "worst true"},
		{"w w", "", ""},
		{"}", "scroll 0", "scroll 1"},
		{"} {", "", ""},
		{"{", "", ""},
		{"o", "sort GPU MEM", "sort ▲PEAK"},
		{"f6 f6", "sort GPU MEM", "sort CPU%"},
		{"O", "reverse false", "reverse true"},
		{"O o", "sort GPU MEM", "sort ▲PEAK"}, // a new column begins in its own direction
		{"p", "frozen false", "frozen true"},
		{"p p", "", ""},
		{"P", "mode 0", "mode 5"},
		{"P y", "resets 0", "resets 1"},
		{"P n", "", ""},
		{"P q", "", ""},
		{"-", "interval 0s", "interval 2s"},
		{"+", "interval 0s", "interval 500ms"},
		{"=", "interval 0s", "interval 500ms"},
		{"+ + + +", "interval 0s", "interval 250ms"},
		{"T", "theme dark", "theme light"},
		{"j", "cursor -1", "cursor 0"},
		{"down down", "cursor -1", "cursor 1"},
		{"k", "cursor -1", "cursor 0"},
		{"j j j k", "cursor -1", "cursor 1"},
		{"pgdown", "cursor -1", "cursor 9"},
		{"pgdown pgup", "cursor -1", "cursor 0"},
		{"G", "cursor -1", "cursor 23"},
		{"end home", "cursor -1", "cursor 0"},
		{"j j esc", "", ""},
		{"enter", "mode 0 focus -1 scroll 0 cursor -1", "mode 3 focus -1 scroll 0 cursor 0"},
		{"j j enter", "mode 0 focus -1 scroll 0 cursor -1", "mode 3 focus -1 scroll 0 cursor 1"},
		{"j enter x", "cursor -1", "cursor 0"},
		{"j enter ]", "mode 0 focus -1 scroll 0 cursor -1 sort GPU MEM reverse false span 5m0s", "mode 3 focus -1 scroll 0 cursor 0 sort GPU MEM reverse false span 15m0s"},
		{"?", "mode 0", "mode 1"},
		{"f1", "mode 0", "mode 1"},
		{"? j j", "mode 0", "mode 1"},
		{"? q", "", ""},
		{"? ?", "", ""},
		{"a", "mode 0", "mode 2"},
		{"a esc", "", ""},
		{"a 3", "", ""},
		{"a ?", "mode 0", "mode 1"},
		{"? a", "mode 0", "mode 2"},
		{"a a", "", ""},
		{"n", "mode 0", "mode 4"},
		{"n 1 6 G enter", "need 0 B", "need 16.0 GiB"},
		{"n 3 0 0 M i B enter", "need 0 B", "need 300.0 MiB"},
		{"n 1 2 backspace 5 G enter", "need 0 B", "need 15.0 GiB"},
		{"n 9 9 ctrl+u 1 G enter", "need 0 B", "need 1.0 GiB"},
		{"n 1 6 G esc", "", ""},
		{"n 1 6 G enter n enter", "", ""},
		{"n 1 6 G enter n 2 G esc", "need 0 B", "need 16.0 GiB"},
		{"n x enter", "mode 0", "mode 4"},
		{"n x enter 1 G enter", "need 0 B", "need 1.0 GiB"},
		{"n q ? esc", "", ""},
		{"z é f12 ctrl+u ctrl+l space", "", ""}, // nobody could be signaled, so nothing is tagged
	} {
		m := model(snaps, 120, 40, Options{Theme: "dark"})
		press(m, row.keys)
		want := initial
		if row.was != "" && !strings.Contains(initial, row.was) {
			t.Fatalf("%q is not in the first state, %s", row.was, initial)
		}
		want = strings.Replace(want, row.was, row.is, 1)
		if got := state(m); got != want {
			t.Errorf("keys %q:\n got %s\nwant %s", row.keys, got, want)
		}
	}
}

func TestKeysQuit(t *testing.T) {
	for _, keys := range []string{"q", "f10", "ctrl+c", "n ctrl+c", "? ctrl+c", "P ctrl+c", "enter ctrl+c"} {
		cmd := press(model(past(gpus(1, 1, false), 2), 80, 24, Options{}), keys)
		if cmd == nil {
			t.Errorf("%q does not quit", keys)
		} else if _, ok := cmd().(tea.QuitMsg); !ok {
			t.Errorf("%q does not quit", keys)
		}
	}
}

// What was typed behind the key that ends the monitor is taken, for its reader waits for that, and does nothing.
func TestTypedBehindQuit(t *testing.T) {
	m := model(past(gpus(1, 1, false), 2), 80, 24, Options{})
	press(m, "q")
	before := m.prompt.mode
	for _, k := range []string{"K", "n", "?"} {
		if cmd := press(m, k); cmd != nil || m.prompt.mode != before {
			t.Errorf("%q does something", k)
		}
	}
}

// TestKeysBeforeAnything: no key falls over while nothing has come yet.
func TestKeysBeforeAnything(t *testing.T) {
	for _, snaps := range [][]*sampler.Snapshot{nil, {gpus(0, 0, false)}, {gpus(1, 0, false)}} {
		for _, b := range model(nil, 80, 24, Options{}).bindings() {
			for _, k := range b.keys {
				if k == "ctrl+z" || k == "ctrl+l" {
					continue
				}
				m := model(snaps, 80, 24, Options{})
				press(m, k)
				checkScreen(t, k, m)
			}
		}
	}
}

// TestBadNeed: what is no size is said so where it was typed.
func TestBadNeed(t *testing.T) {
	for _, w := range []int{80, 140} {
		m := model(past(gpus(1, 1, false), 2), w, 24, Options{})
		press(m, "n 1 6 Q enter")
		if got := text(m); !strings.Contains(got, `"16Q" is not`) {
			t.Errorf("width %d: a bad need is not told:\n%s", w, got)
		}
		m.Update(noticeExpired{m.notices.number})
		if got := text(m); strings.Contains(got, "16Q") || !strings.Contains(got, "need") {
			t.Errorf("width %d: the notice stays, or the prompt does not:\n%s", w, got)
		}
	}
}

func TestNotices(t *testing.T) {
	m := model(past(gpus(2, 1, false), 2), 100, 24, Options{})
	press(m, "]")
	first := m.notices.number
	press(m, "5")
	if !strings.Contains(text(m), "there are 2 GPUs") {
		t.Errorf("a GPU that is not there is not told:\n%s", text(m))
	}
	m.Update(noticeExpired{first})
	if !strings.Contains(text(m), "there are 2 GPUs") {
		t.Error("an old timer clears a new notice")
	}
	m.Update(noticeExpired{m.notices.number})
	if strings.Contains(text(m), "there are 2 GPUs") {
		t.Error("the notice stays")
	}
}

func TestPaste(t *testing.T) {
	m := model(past(gpus(2, 1, false), 2), 100, 24, Options{})
	m.Update(tea.PasteMsg{Content: "99G"})
	press(m, "n")
	m.Update(tea.PasteMsg{Content: "\x1b[31m"})
	m.Update(tea.PasteMsg{Content: strings.Repeat("9", 1000)})
	press(m, "ctrl+u")
	m.Update(tea.PasteMsg{Content: "15.82 GiB\n"})
	press(m, "enter")
	if got := m.folds.watch.Need().Or(0); got != 16986595656 {
		t.Errorf("the pasted need is %d", got)
	}
}

// TestPause: the picture stays, measuring goes on, and nothing is lost.
func TestPause(t *testing.T) {
	list := past(gpus(1, 2, false), 40)
	m := model(list[:10], 100, 30, Options{})
	press(m, "p")
	before := text(m)
	if !strings.Contains(before, "FROZEN") {
		t.Errorf("nothing says that the picture is frozen:\n%s", before)
	}
	spike := *list[20]
	spike.GPUs = []sampler.GPU{spike.GPUs[0]}
	spike.GPUs[0].Memory.Window = &sampler.Window{Min: 0, Max: 79 * sampler.GiB, MaxTime: spike.Time, Readings: 50}
	m.Update(snapshotsArrived{append(append(list[10:20:20], &spike), list[21:]...)})
	if got := text(m); got != before {
		t.Errorf("the frozen picture has changed:\n%s", difference(before, got))
	}
	press(m, "p")
	end := list[len(list)-1].Time
	if got := text(m); got == before || !strings.Contains(got, end.Format("15:04:05")) {
		t.Errorf("the picture does not go on:\n%s", got)
	}
	values := m.folds.history.GPU(sampler.GPUKey{ID: "GPU-0"}).Plot("memory.used").Columns(end, time.Second, 40)
	if values[20] != 79*1024 {
		t.Errorf("what was measured while paused is %v", values)
	}
}

// tableOf is a snapshot with processes pid: MiB.
func tableOf(i int, procs ...[2]int) *sampler.Snapshot {
	s := gpus(1, 0, false)
	s.Time = afternoon.Add(time.Duration(i) * time.Second)
	s.GPUs[0].Memory.Unattributed = sampler.Some(sampler.Bytes(0))
	for _, p := range procs {
		s.GPUs[0].Processes = append(s.GPUs[0].Processes, sampler.Process{PID: p[0], Name: fmt.Sprintf("job%d", p[0]), Memory: sampler.Some(sampler.Bytes(p[1]) * sampler.MiB)})
	}
	return s
}

// TestSelectionFollowsTheProcess: not the row.
func TestSelectionFollowsTheProcess(t *testing.T) {
	m := model([]*sampler.Snapshot{tableOf(0, [2]int{1, 40000}, [2]int{2, 20000}, [2]int{3, 9000})}, 100, 30, Options{})
	press(m, "j j")
	selected := func(what string, pid, row int) {
		t.Helper()
		if m.table.cursor != row || row >= 0 && m.table.rows[row].proc.PID != pid {
			t.Errorf("%s: row %d of %d is selected, want process %d in row %d", what, m.table.cursor, len(m.table.rows), pid, row)
		}
		if row >= 0 && !strings.Contains(text(m), fmt.Sprintf("› %9s", fmt.Sprint(pid))) && !strings.Contains(text(m), "›") {
			t.Errorf("%s: no cursor on screen", what)
		}
	}
	show := func(s *sampler.Snapshot) { m.Update(snapshotsArrived{[]*sampler.Snapshot{s}}) }
	selected("the second", 2, 1)
	show(tableOf(1, [2]int{1, 1000}, [2]int{2, 20000}, [2]int{3, 50000}))
	selected("another order", 2, 1)
	show(tableOf(2, [2]int{1, 50000}, [2]int{3, 40000}, [2]int{2, 5000}))
	selected("at the end", 2, 2)
	press(m, "O")
	selected("reversed", 2, 0)
	press(m, "O")
	show(tableOf(3, [2]int{2, 5000}))
	selected("the others gone", 2, 0)
	show(tableOf(4, [2]int{4, 60000}, [2]int{5, 50000}, [2]int{2, 5000}))
	selected("others come", 2, 2)
	show(tableOf(5, [2]int{4, 60000}, [2]int{5, 50000}))
	selected("gone itself: the row before", 5, 1)
	show(tableOf(6))
	selected("all gone", 0, -1)
	show(tableOf(7, [2]int{6, 100}))
	press(m, "j")
	selected("a new one", 6, 0)
}

// TestDetailOfAnEndedProcess: the detail must not turn into another process's.
func TestDetailOfAnEndedProcess(t *testing.T) {
	m := model([]*sampler.Snapshot{tableOf(0, [2]int{11, 40000}, [2]int{22, 20000})}, 100, 30, Options{})
	press(m, "j enter")
	if !strings.Contains(text(m), "process 11 on GPU 0") {
		t.Fatalf("no detail:\n%s", text(m))
	}
	m.Update(snapshotsArrived{[]*sampler.Snapshot{tableOf(1, [2]int{22, 20000})}})
	if got := text(m); strings.Contains(got, "process 22 on GPU") || !strings.Contains(got, "process 11 is gone") {
		t.Errorf("process 11 has ended, the screen shows\n%s", got)
	}
}

// TestHelpIsComplete: every key and sign is explained in full, from the usual terminal on.
func TestHelpIsComplete(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {100, 60}, {200, 24}} {
		checkHelp(t, model(past(gpus(1, 1, false), 2), size[0], size[1], Options{}))
		checkHelp(t, model(past(gpus(1, 1, false), 2), size[0], size[1], Options{Processes: &world{}}))
	}
}

// Nor is any line of it cut in another language.
func TestHelpIsNotCut(t *testing.T) {
	for _, name := range lang.Names() {
		m := model(past(gpus(1, 1, false), 2), 80, 24, Options{Lang: name, Processes: &world{}})
		press(m, "?")
		if got := text(m); strings.Contains(got, "…") {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

func checkHelp(t *testing.T, m *Model) {
	t.Helper()
	press(m, "?")
	got := text(m)
	for _, b := range m.bindings() {
		if b.help != "" && !strings.Contains(got, b.show) || !strings.Contains(got, m.words.Say(b.help)) {
			t.Errorf("the help does not show %q %q", b.show, b.help)
		}
	}
	for _, end := range []string{"before the plot", "red from 95", "no process the driver names", "driver and firmware", "beyond the end", "sees no further."} {
		if !strings.Contains(got, end+" ") {
			t.Errorf("a line of the help is cut before %q", end)
		}
	}
	if more := regexp.MustCompile("… [0-9]+ more"); more.MatchString(got) {
		t.Error("the help has more lines than room")
	}
}

// TestKeysOfTheContract: every key that users were promised is bound.
func TestKeysOfTheContract(t *testing.T) {
	bound := map[string]bool{}
	for _, b := range model(nil, 80, 24, Options{}).bindings() {
		for _, k := range b.keys {
			if bound[k] {
				t.Errorf("%q is bound twice", k)
			}
			bound[k] = true
		}
	}
	for _, k := range strings.Fields("q ? j k up down g G enter o O n a P p [ ] m 0 T + - ctrl+l f1 f6 f10") {
		if !bound[k] {
			t.Errorf("%q does nothing", k)
		}
	}
}

// TestStreamEnds: the reason is kept; quitting oneself is none.
func TestStreamEnds(t *testing.T) {
	why := errors.New("why")
	m := model(nil, 80, 24, Options{})
	if _, cmd := m.Update(streamEnded{why}); cmd == nil || m.err != why {
		t.Errorf("the stream has ended, error %v", m.err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	m = New(ctx, &silent{}, Options{})
	cancel()
	if m.Update(m.waitForSnapshots()); m.err != nil {
		t.Errorf("the user has quit, error %v", m.err)
	}
}

// TestPanicInUpdate: the terminal is given back and the reason told.
func TestPanicInUpdate(t *testing.T) {
	m := model(past(gpus(1, 1, false), 2), 80, 24, Options{})
	m.glyphs = nil
	m.tty.screen = newScreen(&strings.Builder{})
	defer m.tty.screen.close(time.Second)
	_, cmd := m.Update(tea.WindowSizeMsg{Width: 90, Height: 30})
	if cmd == nil || m.err == nil || !strings.Contains(m.err.Error(), "internal error") {
		t.Errorf("a panic while drawing: %v", m.err)
	}
}

// TestSlowerRefreshHasNoGaps: with ten seconds between pictures the plot is still a line.
func TestSlowerRefreshHasNoGaps(t *testing.T) {
	m := model([]*sampler.Snapshot{gpus(1, 0, false)}, 100, 30, Options{})
	press(m, "- - - - -")
	for i := range 30 {
		s := gpus(1, 0, false)
		s.Time = afternoon.Add(time.Duration(10*i+10) * time.Second)
		m.Update(snapshotsArrived{[]*sampler.Snapshot{s}})
	}
	gaps := 0
	for _, v := range m.folds.history.GPU(sampler.GPUKey{ID: "GPU-0"}).Plot("memory.used").Columns(afternoon.Add(5*time.Minute), time.Second, 280) {
		if v != v {
			gaps++
		}
	}
	if gaps > 0 {
		t.Errorf("%d of 280 seconds are gaps", gaps)
	}
}

// TestScrollStopsAtTheEnd: keys pressed at the end of a text are not counted.
func TestScrollStopsAtTheEnd(t *testing.T) {
	for _, row := range []struct {
		name, open string
		w, h       int
	}{{"help", "?", 80, 12}, {"detail", "enter", 50, 12}, {"advice", "a", 60, 10}} {
		snaps := past(gpus(8, 3, false), 5)
		snaps[4].GPUs[7].Processes[0].Command = strings.Repeat("argument ", 60)
		m := model(snaps, row.w, row.h, Options{Need: sampler.Some(79 * sampler.GiB)})
		press(m, row.open)
		first := text(m)
		press(m, strings.Repeat("j ", 500))
		end := text(m)
		if end == first || strings.Contains(end, "… ") {
			t.Errorf("%s does not scroll to its end:\n%s", row.name, end)
		}
		press(m, "k")
		if text(m) == end {
			t.Errorf("%s: one k at the end moves nothing", row.name)
		}
		if press(m, "g"); text(m) != first {
			t.Errorf("%s: g does not go back to the beginning:\n%s", row.name, difference(first, text(m)))
		}
	}
}

// TestDemoIsNeverDropped: whatever the size, a demo says that it is one.
func TestDemoIsNeverDropped(t *testing.T) {
	for _, n := range []int{1, 64} {
		m := model(past(gpus(n, 1, false), 3), 80, 24, Options{Label: "DEMO sixtyfour"})
		for w := 20; w < 220; w += 1 + w/40 {
			for _, h := range []int{2, 5, 6, 13, 14, 20, 30, 60} {
				if head := m.view().draw(w, h).lines()[0]; !strings.Contains(head, "DEMO") {
					t.Fatalf("%d GPUs, %dx%d: %q", n, w, h, head)
				}
			}
		}
	}
}

// TestHiddenGPUs: that some are hidden is said beside the rest of the header, not over it.
func TestHiddenGPUs(t *testing.T) {
	snaps := past(gpus(64, 1, false), 3)
	for w := 30; w < 130; w++ {
		head := model(snaps, w, 14, Options{Label: "DEMO x"}).draw().lines()[0]
		if !strings.Contains(head, " more ↓") {
			t.Fatalf("width %d: GPUs are hidden, the header is %q", w, head)
		}
		for _, part := range []string{"14:03:22", "20ms", "64 GPUs", "RAM 412/512G"} {
			if n := len(part); strings.Contains(head, part[:n-1]) && !strings.Contains(head, part) {
				t.Errorf("width %d: half of %q is left in %q", w, part, head)
			}
		}
	}
}

// TestFailureShowsAtOnce: a failure found in the log is on the screen before the next snapshot.
func TestFailureShowsAtOnce(t *testing.T) {
	var reported []sampler.Alert
	failures := make(chan sampler.OOMEvent, 1)
	m := model(past(gpus(1, 1, false), 5), 100, 30, Options{Failures: failures, Notify: Notify{Report: func(a sampler.Alert) { reported = append(reported, a) }}})
	failures <- sampler.OOMEvent{Framework: "pytorch", Kind: "cuda_oom", MemoryKind: "gpu", Requested: sampler.Some(90 * sampler.GiB)}
	m.Update(m.waitForFailure())
	if got := text(m); len(reported) != 1 || reported[0].Kind != "oom" || !strings.Contains(got, reported[0].Text[:20]) {
		t.Errorf("reported %+v, the screen shows\n%s", reported, got)
	}
}

// Key o goes through the columns that are on the screen, and no others.
func TestSortByWhatIsShown(t *testing.T) {
	for _, size := range [][2]int{{40, 20}, {80, 24}, {200, 60}} {
		m := model(past(gpus(2, 2, false), 3), size[0], size[1], Options{})
		seen := map[int]bool{}
		for range 2 * len(columns) {
			press(m, "o")
			if seen[m.table.sort] = true; !strings.Contains(text(m), columns[m.table.sort].title+"↓") && !strings.Contains(text(m), columns[m.table.sort].title+"↑") {
				t.Errorf("%v: sorted by %s, which is not shown", size, columns[m.table.sort].title)
			}
		}
		if len(seen) < 3 {
			t.Errorf("%v: only %d columns to sort by", size, len(seen))
		}
	}
}
