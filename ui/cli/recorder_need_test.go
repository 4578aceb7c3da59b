package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"nvpeak/advice/lang"
	"nvpeak/advice/report"
	"nvpeak/advice/watch"
	"nvpeak/sampler"
	"nvpeak/ui"
	"nvpeak/ui/player"
)

// listed is a stream of snapshots that are there already.
type listed struct{ snaps []*sampler.Snapshot }

func (l *listed) Interval() time.Duration { return time.Second }

func (l *listed) Next(context.Context) ([]*sampler.Snapshot, error) {
	if len(l.snaps) == 0 {
		return nil, io.EOF
	}
	s := l.snaps[0]
	l.snaps = l.snaps[1:]
	return []*sampler.Snapshot{s}, nil
}

// ids are the alerts in a word.
func ids(alerts []sampler.Alert) string {
	var list []string
	for _, a := range alerts {
		list = append(list, a.Kind+fmt.Sprint(a.T))
	}
	slices.Sort(list)
	return fmt.Sprint(list)
}

// What the screen showed is what is recorded, replayed and reported, also when the need was
// set while it was recorded.
func TestRecordingOfASetNeed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	a := &app{}
	r := a.newRecorder(path)
	if err := r.create(nil); err != nil {
		t.Fatal(err)
	}
	l := &listed{}
	for i := range 120 {
		g := card("GPU-a", 60*sampler.GiB)
		g.Processes = []sampler.Process{{PID: 1, Name: "python", Memory: g.Memory.Used}}
		l.snaps = append(l.snaps, &sampler.Snapshot{Time: time.Unix(1e9+int64(i), 0), GPUs: []sampler.GPU{g}})
	}
	shown := &seen{screenRecorder: screenRecorder{r}}
	m := ui.New(t.Context(), l, ui.Options{Recorder: shown})
	wait := m.Init()
	for i := range 120 {
		switch i {
		case 40:
			typed(m, "n30G\r")
		case 90:
			typed(m, "n\r")
		}
		m.Update(wait())
	}
	if err := r.close(); err != nil {
		t.Fatal(err)
	}
	if shown.alerts[39] != "[]" || shown.alerts[80] == "[]" || shown.alerts[119] != "[]" {
		t.Fatalf("the screen showed %v", shown.alerts)
	}
	if got := replayed(t, path); !slices.Equal(got, shown.alerts) {
		t.Errorf("replayed:\n%v\nshown:\n%v", got, shown.alerts)
	}
	reporter := report.New(report.Options{})
	if _, err := foldTape(one(path, nil), lang.English().Say, reporter, trainingLog{}); err != nil {
		t.Fatal(err)
	}
	if got := reporter.Report().Alerts; "["+got[0].Kind+fmt.Sprint(got[0].T)+"]" != shown.alerts[80] || len(got) != 1 || got[0].End.Or(0) < 90 {
		t.Errorf("reported: %+v", got)
	}
}

// seen notes the alerts of each snapshot.
type seen struct {
	screenRecorder
	alerts []string
}

func (s *seen) Snapshot(snap *sampler.Snapshot, alerts []sampler.Alert) error {
	s.alerts = append(s.alerts, ids(alerts))
	return s.screenRecorder.Snapshot(snap, alerts)
}

func typed(m *ui.Model, keys string) {
	for _, k := range keys {
		msg := tea.KeyPressMsg{Code: k, Text: string(k)}
		if k == '\r' {
			msg = tea.KeyPressMsg{Code: tea.KeyEnter}
		}
		m.Update(msg)
	}
}

// replayed are the alerts of each snapshot of a recording, as a replay shows them.
func replayed(t *testing.T, path string) (list []string) {
	t.Helper()
	p, err := player.Open(t.Context(), func() (player.Tape, error) { return openTape(one(path, nil), lang.English().Say) }, player.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.Toggle()
	w := watch.New(watch.Options{})
	for len(list) < 120 {
		s, err := p.Scene(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if s.Jump != nil {
			w, list = s.Jump.Watch, append(list, ids(s.Jump.Alerts))
		}
		for _, f := range s.Frames {
			list = append(list, ids(f.Fold(w)))
		}
		p.Step(1)
	}
	return list
}
