package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"nvpeak/sampler"
)

// listener takes what a messenger says and sends, with the second in which it does.
type listener struct {
	mu    sync.Mutex
	begin time.Time
	said  []string
	sent  []string
}

func (l *listener) say(text string) { l.note(&l.said, text) }

func (l *listener) note(list *[]string, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*list = append(*list, fmt.Sprintf("%.0f %s", time.Since(l.begin).Seconds(), text))
}

// way fails as often as asked before it works.
func (l *listener) way(name string, failures int, err error) Way {
	return Way{name, func(_ context.Context, body []byte) error {
		var a sampler.Alert
		if err := json.Unmarshal(body, &a); err != nil {
			return err
		}
		l.note(&l.sent, name+" "+a.Text)
		if failures--; failures >= 0 {
			return err
		}
		return nil
	}}
}

var errDown = errors.New("HTTP 500")

// What fails is tried again, after longer and longer; that is said once, and so is that it works again.
func TestTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &listener{begin: time.Now()}
		ledger := &Ledger{filepath.Join(t.TempDir(), "alerts.json")}
		m := New([]Way{l.way("webhook", 3, errDown)}, Options{Trouble: l.say, Ledger: ledger})
		m.Tell(sampler.Alert{Text: "a"})
		m.Tell(sampler.Alert{Text: "b"})
		time.Sleep(time.Minute)
		synctest.Wait()
		d := m.Deliveries()[0]
		m.Close(time.Second)
		want := []string{"0 webhook a", "1 webhook a", "3 webhook a", "7 webhook a", "7 webhook b"}
		if !slices.Equal(l.sent, want) || d.Sent != 2 || d.Retries != 3 || d.Failed != 0 || d.Waiting != 0 || d.LastError.Or("") != "HTTP 500" {
			t.Errorf("tried %q, counted %+v", l.sent, d)
		}
		if list := ledger.Read(); len(list) != 1 || list[0].Retries != 3 || list[0].Sent != 2 {
			t.Errorf("the ledger holds %+v", list)
		}
		if !slices.Equal(l.said, []string{"0 --webhook: HTTP 500; trying again", "7 --webhook works again"}) {
			t.Errorf("said %q", l.said)
		}
	})
}

// An alert that cannot be passed on is given up, said and counted; one way does not hold up another.
func TestGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &listener{begin: time.Now()}
		ways := []Way{l.way("webhook", 99, errDown), l.way("on-alert", 99, Hopeless{errors.New("not found")})}
		m := New(ways, Options{Trouble: l.say})
		m.Tell(sampler.Alert{Text: "a"})
		time.Sleep(time.Minute)
		synctest.Wait()
		web, cmd := m.Deliveries()[0], m.Deliveries()[1]
		m.Close(time.Second)
		if web.Failed != 1 || web.Retries != 5 || web.Waiting != 0 || cmd.Failed != 1 || cmd.Retries != 0 || !cmd.LastFailure.Known() {
			t.Errorf("counted %+v, %+v", web, cmd)
		}
		for _, want := range []string{"30 --webhook: HTTP 500; alerts not passed on: 1", "0 --on-alert: not found; alerts not passed on: 1"} {
			if !slices.Contains(l.said, want) {
				t.Errorf("said %q, not %q", l.said, want)
			}
		}
	})
}

// A way that hangs costs neither the caller nor memory: what there is no room for is lost, and counted.
func TestSlowWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New([]Way{{"on-alert", func(ctx context.Context, _ []byte) error { <-ctx.Done(); return ctx.Err() }}}, Options{})
		begin := time.Now()
		for range waiting + 5 {
			m.Tell(sampler.Alert{})
			synctest.Wait()
		}
		d := m.Deliveries()[0]
		if time.Since(begin) != 0 || d.Failed != 4 || d.Waiting != waiting+1 {
			t.Errorf("after %v: %+v", time.Since(begin), d)
		}
		m.Close(3 * time.Second)
		if took := time.Since(begin); took != 3*time.Second {
			t.Errorf("it ended after %v", took)
		}
	})
}

// At the end what waits is tried at once, and once more at most.
func TestCloseSends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &listener{begin: time.Now()}
		m := New([]Way{l.way("webhook", 1, errDown)}, Options{})
		m.Tell(sampler.Alert{Text: "a"})
		m.Tell(sampler.Alert{Text: "b"})
		synctest.Wait()
		m.Close(3 * time.Second)
		if want := []string{"0 webhook a", "0 webhook a", "0 webhook b"}; !slices.Equal(l.sent, want) {
			t.Errorf("sent %q", l.sent)
		}
	})
	var none *Messenger
	none.Tell(sampler.Alert{})
	none.Close(time.Hour)
}

// What is passed on has no secrets and no control characters.
func TestTellsNoSecrets(t *testing.T) {
	got := make(chan string, 1)
	m := New([]Way{{"webhook", func(_ context.Context, b []byte) error { got <- string(b); return nil }}}, Options{})
	m.Tell(sampler.Alert{Text: "x\u009b31m", Evidence: []string{"login(token='s3cr3tA')"},
		Advice: []sampler.Advice{{Do: []string{"python t.py --hf-token s3cr3tA --batch-size 32"}}}})
	if body := <-got; strings.Contains(body, "s3cr3tA") || strings.Contains(body, "\u009b") || !strings.Contains(body, "--hf-token [redacted] --batch-size 32") {
		t.Errorf("told %q", body)
	}
	m.Close(time.Second)
}

// The ledger counts over processes, and begins anew when it holds something else.
func TestLedger(t *testing.T) {
	dir := t.TempDir()
	l := NewLedger(func(name string) string { return map[string]string{"XDG_STATE_HOME": dir}[name] })
	for range 2 {
		m := New([]Way{{"webhook", func(context.Context, []byte) error { return Hopeless{errDown} }}}, Options{Ledger: l})
		m.Tell(sampler.Alert{})
		m.Close(time.Minute)
	}
	if got := l.Read(); len(got) != 1 || got[0].Way != "webhook" || got[0].Failed != 2 || got[0].LastError.Or("") != "HTTP 500" {
		t.Errorf("the ledger holds %+v", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "nvpeak", "alerts.json"), []byte(`[{"way":`), 0o600); err != nil {
		t.Fatal(err)
	}
	l.add("on-alert", func(d *sampler.Delivery) { d.Sent++ })
	if got := l.Read(); len(got) != 1 || got[0].Sent != 1 {
		t.Errorf("after damage the ledger holds %+v", got)
	}
	if NewLedger(func(string) string { return "" }) != nil {
		t.Error("without a home there is a ledger")
	}
}

// News are critical alerts, each once: also one that was a warning before.
func TestNews(t *testing.T) {
	var n News
	alert := func(id, level string) sampler.Alert { return sampler.Alert{ID: id, Level: level} }
	w, c := sampler.LevelWarning, sampler.LevelCritical
	for i, step := range []struct {
		open []sampler.Alert
		want string
	}{
		{[]sampler.Alert{alert("a", w), alert("b", c)}, "b"},
		{[]sampler.Alert{alert("a", w), alert("b", w)}, ""},
		{[]sampler.Alert{alert("a", c), alert("b", c)}, "a"},
		{nil, ""},
		{[]sampler.Alert{alert("c", c)}, "c"},
	} {
		got := ""
		for _, a := range n.Take(step.open) {
			got += a.ID
		}
		if got != step.want {
			t.Errorf("step %d: news %q, want %q", i, got, step.want)
		}
	}
}

// A command gets the alert; how it ends says whether another try makes sense.
func TestCommand(t *testing.T) {
	file := filepath.Join(t.TempDir(), "alert")
	for command, want := range map[string]string{"cat > " + file: "", "exit 3": "exit status 3", "nosuchcommand 2>/dev/null": "not found", "/ 2>/dev/null": "not executable"} {
		err := Command(command).Send(t.Context(), []byte(`{"kind":"oom"}`))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) || hopeless(err) != strings.HasPrefix(want, "not") {
			t.Errorf("%s: %v", command, err)
		}
	}
	if b, _ := os.ReadFile(file); string(b) != `{"kind":"oom"}` {
		t.Errorf("the command got %q", b)
	}
}
