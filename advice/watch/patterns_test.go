package watch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nvpeak/sampler"
)

// pattern is what programs ask for, and what is alerted: "level kind" of each alert, oldest first.
type pattern struct {
	rule string // in whose directory its recording is
	name string
	want []string
	play func(d *driven)
}

var (
	deadly   = []string{"critical oom"}
	nearMiss = []string{"warning flush"}
)

// trained is a program that has taken so many GiB in unlike pieces and is past its start.
func trained(d *driven, held int) *drivenJob {
	d.wait(2)
	j := d.job(4242, "python train.py --batch-size 64")
	for i := range held {
		j.ask(gib + sampler.Bytes(i)*2*mib)
		d.wait(0.3)
	}
	d.wait(70)
	return j
}

// patterns is the table, a row each.
var patterns = []pattern{
	{"flush", "fires_driver", nearMiss, func(d *driven) {
		j := trained(d, 36)
		j.torch(4*gib, 4)
		d.wait(40)
	}},
	{"flush", "fires_driver_times", nearMiss, func(d *driven) {
		j := trained(d, 36)
		for range 3 {
			j.torch(4*gib, 4)
			d.wait(20)
		}
	}},
	{"flush", "fires_driver_start", []string{"notice flush"}, func(d *driven) {
		j := d.job(4242, "python train.py")
		d.wait(3)
		for j.ask(gib + 2*mib) {
			j.ask(512 * mib)
		}
		j.torch(2*gib, 3)
		d.wait(20)
	}},
	{"flush", "fires_driver_midlife", nearMiss, func(d *driven) { // long after its start, though it is heard for the first time
		j := d.job(4242, "python train.py")
		j.start, j.older = -3600, true
		d.wait(2)
		for n := range 36 {
			j.ask(gib + sampler.Bytes(n)*2*mib)
		}
		j.torch(4*gib, 4)
		d.wait(20)
	}},
	{"flush", "fires_driver_again", []string{"notice flush", "warning flush"}, func(d *driven) { // as it starts, and later
		j := d.job(4242, "python train.py")
		for range 36 {
			j.ask(gib)
		}
		d.wait(30)
		j.torch(4*gib, 4)
		d.wait(40)
		j.torch(5*gib, 4)
		d.wait(20)
	}},
	{"flush", "fires_driver_slow", nearMiss, func(d *driven) {
		j := trained(d, 36)
		j.ask(4 * gib)
		for range 5 {
			d.wait(0.7)
			j.give()
		}
		j.ask(4 * gib)
		d.wait(40)
	}},
	{"flush", "fires_driver_threads", nearMiss, func(d *driven) {
		j := trained(d, 36)
		j.ask(4 * gib)
		j.thread = 1
		j.ask(5 * gib)
		j.thread = 0
		for range 5 {
			j.give()
		}
		j.ask(4 * gib)
		d.wait(40)
	}},
	{"flush", "fires_driver_pieces", nearMiss, func(d *driven) {
		j := trained(d, 36)
		expandable(j, 200)
		for range 8 {
			j.give()
		}
		expandable(j, 200)
		d.wait(20)
	}},
	{"flush", "fires_driver_trimmed", nearMiss, func(d *driven) {
		j := trained(d, 34)
		j.pool(3 * gib)
		if !j.ask(4 * gib) {
			j.trim(3 * gib)
			j.ask(4 * gib)
		}
		d.wait(40)
	}},
	{"flush", "quiet_driver_others", nil, func(d *driven) { // memory came from another process
		j := trained(d, 20)
		o := d.job(5000, "python other.py")
		o.ask(12 * gib)
		j.ask(10 * gib)
		d.wait(0.5)
		o.exit()
		j.ask(10 * gib)
		d.wait(40)
	}},
	{"flush", "quiet_driver_falls", nil, func(d *driven) { // what looks like a flush from outside was never refused
		j := trained(d, 38)
		for range 4 {
			for range 8 {
				j.give()
			}
			d.wait(1)
			for range 8 {
				j.ask(gib + 30*mib)
			}
			d.wait(20)
		}
	}},

	{"oom", "fires_driver", deadly, func(d *driven) {
		j := trained(d, 30)
		j.torch(16*gib, 1)
		d.wait(4)
		j.exit()
	}},
	{"oom", "fires_driver_leak", []string{"critical oom"}, func(d *driven) { // slowly, and always the same
		d.wait(2)
		j := d.job(4242, "python leak.py")
		for j.torch(gib, 0) {
			d.wait(4)
		}
		j.exit()
	}},
	{"oom", "fires_driver_plain", deadly, func(d *driven) { // no allocator that asks again
		j := trained(d, 25)
		j.ask(20 * gib)
		j.giveAll()
		d.wait(1)
		j.exit()
	}},
	{"oom", "fires_driver_pieces", deadly, func(d *driven) {
		j := trained(d, 30)
		expandable(j, 1000)
		for range 5 {
			j.give()
		}
		expandable(j, 1000)
		d.wait(3)
		j.exit()
	}},
	{"oom", "fires_driver_region", deadly, func(d *driven) { // of BFC, that cannot grow
		j := trained(d, 34)
		for n := 16 * gib; n > 8*gib; n = n / 10 * 9 {
			j.ask(n)
		}
		d.wait(6)
		j.exit()
	}},
	{"oom", "fires_driver_flushed", []string{"warning flush", "critical oom"}, func(d *driven) {
		j := trained(d, 36)
		j.torch(4*gib, 4)
		d.wait(30)
		j.torch(12*gib, 4)
		d.wait(2)
		j.exit()
	}},
	{"oom", "fires_driver_logged", deadly, func(d *driven) { // the log comes first: one incident
		j := trained(d, 30)
		j.torch(16*gib, 0)
		d.wait(1)
		d.events = append(d.events, drivenEvent{d.now, logged(16*gib - mib)})
		d.wait(2)
		j.exit()
	}},
	{"oom", "fires_driver_logged_late", deadly, func(d *driven) { // or after the process is gone
		j := trained(d, 30)
		j.torch(16*gib, 0)
		d.wait(2)
		j.exit()
		d.wait(10)
		d.events = append(d.events, drivenEvent{d.now, logged(16*gib - mib)})
	}},
	{"oom", "fires_driver_server", []string{"notice oom"}, func(d *driven) { // fails its requests
		j := trained(d, 30)
		for range 5 {
			j.torch(12*gib, 0)
			d.wait(35)
		}
		d.seconds = d.now + 60
	}},
	{"need_does_not_fit", "fires_driver", []string{"warning need_does_not_fit"}, func(d *driven) {
		j := trained(d, 10)
		for range 4 {
			j.ask(9 * gib)
			d.wait(0.2)
			j.give()
			d.wait(33)
		}
		d.job(5000, "python other.py").ask(22 * gib)
	}},
	{"need_does_not_fit", "quiet_driver_fits", nil, func(d *driven) {
		j := trained(d, 10)
		for range 4 {
			j.ask(9 * gib)
			d.wait(0.2)
			j.give()
			d.wait(33)
		}
		d.job(5000, "python other.py").ask(10 * gib)
	}},
	{"need_does_not_fit", "quiet_driver_once", nil, func(d *driven) { // given back, and never asked for again
		j := trained(d, 10)
		j.ask(20 * gib)
		d.wait(0.2)
		j.give()
		d.wait(25)
		d.job(5000, "python other.py").ask(22 * gib)
	}},
	{"need_does_not_fit", "quiet_driver_held", nil, func(d *driven) { // segments of the start, that stay
		j := d.job(4242, "python train.py")
		d.wait(3)
		for range 3 {
			j.ask(11 * gib)
			d.wait(25)
		}
		d.wait(60)
	}},
	{"need_does_not_fit", "quiet_driver_loading", nil, func(d *driven) { // each file is taken over and given back
		j := d.job(4242, "python train.py")
		d.wait(3)
		for range 4 {
			j.ask(5 * gib)
			d.wait(2)
			j.give()
			j.ask(5*gib - 2*mib)
			d.wait(22)
		}
		d.wait(60)
	}},
	{"need_does_not_fit", "quiet_driver_moved_on", nil, func(d *driven) { // it came again and again, and then no more
		j := trained(d, 10)
		for range 3 {
			j.ask(9 * gib)
			d.wait(0.2)
			j.give()
			d.wait(25)
		}
		d.wait(65)
		d.job(5000, "python other.py").ask(22 * gib)
	}},
	{"oom", "fires_driver_pieces_exit_1", deadly, func(d *driven) { // pieces of one size, as a tester; but it gives up
		j := d.job(4242, "python leak.py")
		d.wait(2)
		for j.ask(600 * mib) {
			d.wait(0.2)
		}
		j.exits(1)
	}},
	{"oom", "fires_driver_frees_exit_1", deadly, func(d *driven) { // the destructors have their turn
		j := trained(d, 30)
		j.torch(12*gib, 3)
		j.giveAll()
		d.wait(15)
		j.exits(1)
	}},
	{"oom", "fires_driver_buffers_exit_1", deadly, func(d *driven) { // equal buffers that it fills one by one; they are given back as it unwinds
		j := d.job(4242, "./solve")
		d.wait(2)
		for j.ask(6 * gib) {
			d.wait(0.5)
		}
		j.giveAll()
		d.wait(0.3)
		j.exits(1)
	}},
	{"oom", "fires_driver_few_buffers_exit_1", deadly, func(d *driven) { // the same at once
		j := d.job(4242, "./solve")
		d.wait(2)
		for j.ask(6 * gib) {
		}
		j.giveAll()
		d.wait(0.3)
		j.exits(1)
	}},
	{"oom", "fires_driver_nothing_exit_1", deadly, func(d *driven) { // one piece, and it holds nothing yet
		j := d.job(4242, "./llama-cli -m x.gguf")
		d.wait(2)
		j.ask(50 * gib)
		d.wait(0.2)
		j.exits(1)
	}},
	{"oom", "fires_driver_abort", deadly, func(d *driven) { // a plain program takes its time
		j := trained(d, 30)
		j.ask(12 * gib)
		d.wait(16)
		j.exits(134)
	}},
	{"oom", "fires_driver_zombie", []string{"critical oom"}, func(d *driven) { // still listed: its parent never asks how it ended
		j := trained(d, 30)
		j.torch(12*gib, 3)
		j.zombie = true
		j.exits(1)
		d.wait(30)
	}},
	{"oom", "fires_driver_unwinds", deadly, func(d *driven) { // what writes the traceback takes a little, too
		j := trained(d, 30)
		j.torch(12*gib, 3)
		j.ask(2 * mib)
		d.wait(3)
		j.exits(1)
	}},
	{"oom", "fires_driver_threads", deadly, func(d *driven) { // a library in another thread is content with a smaller workspace
		j := trained(d, 30)
		j.torch(12*gib, 0)
		j.thread = 1
		j.call("cuMemAlloc_v2", 24*mib, 0, 2)
		j.ask(8 * mib)
		d.wait(1)
		j.exits(1)
	}},
	{"oom", "fires_driver_layers_exit_1", deadly, func(d *driven) { // as many layers as fit, and it takes a moment to fail
		j := d.job(4242, "python serve.py")
		d.wait(2)
		for j.ask(gib) {
			d.wait(0.02)
		}
		d.wait(4)
		j.exits(1)
	}},
	{"oom", "fires_driver_replicas_at_once", deadly, func(d *driven) { // another thread is granted the same on another GPU
		j := replicated(d)
		j.torch(12*gib, 0)
		j.thread = 1
		j.callOn(1, "cuMemAlloc_v2", 12*gib, 1<<50, 0)
		d.wait(0.3)
		j.exits(1)
	}},
	{"oom", "fires_driver_little_pinned_at_once", deadly, func(d *driven) { // a part of it on the host is not enough
		j := trained(d, 30)
		j.ask(12 * gib)
		j.with("cuMemHostAlloc", 2*gib)
		d.wait(0.4)
		j.exits(1)
	}},
}

// replicated is a program that uses a second GPU, too.
func replicated(d *driven) *drivenJob {
	d.beside(5000, "python other.py")
	j := trained(d, 30)
	j.env = map[string]string{"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
	j.callOn(1, "cuMemAlloc_v2", 4*gib, 1<<49, 0)
	d.wait(4)
	return j
}

// expandable asks for a tensor in pieces of 20 MiB, and gives all of them back when one is refused.
func expandable(j *drivenJob, pieces int) bool {
	for n := range pieces {
		if !j.with("cuMemCreate", largeSegment) {
			for range n {
				j.give()
			}
			return false
		}
	}
	return true
}

// logged is a failure as a log tells it.
func logged(n sampler.Bytes) sampler.OOMEvent {
	return sampler.OOMEvent{Framework: "pytorch", Kind: sampler.KindCUDA, MemoryKind: sampler.MemoryGPU, Requested: sampler.Some(n), GPUIndex: sampler.Some(0), Line: 12}
}

// lines is the recording of a pattern.
func (d *driven) lines() []byte {
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	events := d.events
	for _, s := range d.snapshots() {
		for len(events) > 0 && !drivenTime(events[0].at).After(s.Time) {
			_ = out.Encode(pruned(map[string]any{"type": "event", "kind": "oom", "time": drivenTime(events[0].at), "oom": events[0].oom}))
			events = events[1:]
		}
		_ = out.Encode(pruned(s))
	}
	return b.Bytes()
}

// pruned is a value as JSON, without what says nothing.
func pruned(v any) any {
	text, _ := json.Marshal(v)
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	var tree any
	_ = in.Decode(&tree)
	return prune(tree)
}

func prune(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, x := range v {
			if v[key] = prune(x); v[key] == nil {
				delete(v, key)
			}
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		if len(v) == 0 {
			return nil
		}
		for i := range v {
			v[i] = prune(v[i])
		}
	case string:
		if v == "" {
			return nil
		}
	}
	return v
}

// told are the alerts of a pattern.
func (d *driven) told() []sampler.Alert {
	w := New(Options{})
	events := d.events
	for _, s := range d.snapshots() {
		for len(events) > 0 && !drivenTime(events[0].at).After(s.Time) {
			w.Event(events[0].oom, drivenTime(events[0].at))
			events = events[1:]
		}
		w.Add(s)
	}
	return w.Past()
}

// Patterns of requests, through the fold over calls: what is alerted, whether snapshots tell requests one by one
// or only their sums, and recordings of them in testdata/advice.
func TestPatterns(t *testing.T) {
	for _, p := range slices.Concat(patterns, harmlessPatterns, stoppedPatterns, contextPatterns) {
		t.Run(p.rule+" "+p.name, func(t *testing.T) {
			for _, bare := range []bool{false, true} {
				if bare && (p.rule == "need_does_not_fit" || strings.Contains(p.name, "_at_once") || strings.Contains(p.name, "_steps_exit_1")) {
					continue // what comes again, or at once after a refusal, or in which order is seen one by one only
				}
				d := &driven{bare: bare}
				p.play(d)
				var got []string
				past := d.told()
				for _, a := range past {
					got = append(got, a.Level+" "+a.Kind)
				}
				if !slices.Equal(got, p.want) {
					t.Errorf("one by one: %v: %v, want %v: %+v", !bare, got, p.want, texts(past))
				}
			}
			d := &driven{}
			p.play(d)
			checkRecording(t, filepath.Join("..", "..", "testdata", "advice", p.rule, p.name+".jsonl"), d.lines())
		})
	}
}

func checkRecording(t *testing.T, file string, lines []byte) {
	t.Helper()
	if *updateRules {
		if err := os.WriteFile(file, lines, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	old, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(old, lines) {
		t.Errorf("%s is not that recording, which -update-rules writes (%v)", filepath.Base(file), err)
	}
}

func texts(list []sampler.Alert) string {
	var b strings.Builder
	for _, a := range list {
		fmt.Fprintf(&b, "\n%v %v %s %s %q", a.T, a.End, a.Level, a.Text, a.Evidence)
	}
	return b.String()
}
