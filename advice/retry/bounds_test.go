package retry

import (
	"slices"
	"strings"
	"testing"

	"nvpeak/advice/explain"
	"nvpeak/advice/lang"
	"nvpeak/sampler"
	"nvpeak/sampler/oomlog"
)

// failedAs is an explanation of one failure.
func failedAs(change func(*sampler.OOMEvent)) explain.Explanation {
	e := explain.Event{OOMEvent: sampler.OOMEvent{Context: &sampler.LogContext{}}}
	change(&e.OOMEvent)
	return explain.Explanation{Events: []explain.Event{e}}
}

// What has come further is better, whatever it died for want of; at one place 2 % more or less are two runs of the same.
func TestCompareBounds(t *testing.T) {
	at := func(epoch, step int) func(*sampler.OOMEvent) {
		return func(e *sampler.OOMEvent) { e.Context.Epoch, e.Context.Step = sampler.Some(epoch), sampler.Some(step) }
	}
	wants := func(n sampler.Bytes) func(*sampler.OOMEvent) {
		return func(e *sampler.OOMEvent) { e.Requested = sampler.Some(n) }
	}
	first := func(e *sampler.OOMEvent) { e.Context.FirstStep = true }
	nothing := func(*sampler.OOMEvent) {}
	for name, row := range map[string]struct {
		before, after func(*sampler.OOMEvent)
		want          Gain
	}{
		"a later epoch":             {at(3, 9), at(4, 1), Better},
		"an earlier epoch":          {at(3, 1), at(2, 9), Worse},
		"a later step":              {at(3, 1), at(3, 2), Better},
		"an earlier step":           {at(3, 2), at(3, 1), Worse},
		"the same step":             {at(3, 2), at(3, 2), Same},
		"a step that is not known":  {at(3, 2), nothing, Same},
		"nor was it before":         {nothing, at(3, 2), Same},
		"behind the first step":     {first, nothing, Better},
		"in the first step again":   {nothing, first, Worse},
		"both in the first step":    {first, first, Same},
		"2 % less":                  {wants(100), wants(98), Same},
		"more than 2 % less":        {wants(100), wants(97), Better},
		"more":                      {wants(100), wants(200), Same},
		"not known how much":        {wants(100), nothing, Same},
		"not known how much before": {nothing, wants(1), Same},
		"less allocated": {func(e *sampler.OOMEvent) { e.Allocated = sampler.Some(sampler.Bytes(100)) },
			func(e *sampler.OOMEvent) { e.Allocated = sampler.Some(sampler.Bytes(50)) }, Better},
		"less in use": {func(e *sampler.OOMEvent) { e.ProcessInUse = sampler.Some(sampler.Bytes(100)) },
			func(e *sampler.OOMEvent) { e.ProcessInUse = sampler.Some(sampler.Bytes(50)) }, Better},
		"without a context":     {at(3, 1), func(e *sampler.OOMEvent) { e.Context = nil }, Same},
		"without a context yet": {func(e *sampler.OOMEvent) { e.Context = nil }, at(3, 1), Same},
	} {
		if got := Compare(failedAs(row.before), failedAs(row.after)); got != row.want {
			t.Errorf("%s: %d, want %d", name, got, row.want)
		}
	}
	one, none := failedAs(at(3, 1)), explain.Explanation{Verdict: explain.Verdict{Event: -1}}
	beyond := one
	beyond.Verdict.Event = 1
	for _, pair := range [][2]explain.Explanation{{one, none}, {none, one}, {one, beyond}, {none, none}} {
		if got := Compare(pair[0], pair[1]); got != Same {
			t.Errorf("without a failure to compare: %d", got)
		}
	}
}

// Exit codes of an abort and of a fault are ends of an exception, whatever else was printed; other codes are somebody's
// own words or a signal.
func TestExitCodes(t *testing.T) {
	events, err := oomlog.Scan(strings.NewReader(tooBig + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	gpu := explain.Explain(explain.Incident{Events: events})
	for code, want := range map[int]string{1: "", 2: "", 3: "other_end", 126: "not_started", 127: "not_started", 128: "other_end",
		129: "signal", 134: "", 135: "", 136: "signal", 139: "", 254: "signal", 255: ""} {
		got := ""
		if no := Died(gpu, code, "goodbye\n"); no != nil {
			got = strings.TrimPrefix(no.id, "retry.")
		}
		if got != want {
			t.Errorf("exit %d: %q, want %q", code, got, want)
		}
	}
	for cause, want := range map[string]bool{explain.CauseHostMemory: true, explain.CauseSharedMemory: true, explain.CauseTooBig: false} {
		e := explain.Explain(explain.Incident{Events: events})
		e.Events[0].Causes = []sampler.Cause{{ID: cause}, {ID: explain.CauseHostMemory}}
		if no := Died(e, 1, ""); (no != nil && no.id == "retry.host") != want {
			t.Errorf("%s: %v, of the host: %v", cause, no, want)
		}
	}
}

// What becomes of the effective batch is said with each halving.
func TestEffectiveBatch(t *testing.T) {
	for _, row := range [][3]string{
		{tooBig, "python run.py --per_device_train_batch_size 8", "retry.accumulated"},
		{tooBig, "python run.py --per_device_train_batch_size 7", "retry.nearly"}, // 3 and 3 are not 7
		{tooBig, "python train.py --batch-size 32", "retry.effective"},            // it may have no such option
		{tooBig, "python train.py --batch-size 32 --gradient-accumulation-steps 2", "retry.accumulated"},
		{tooBig, "python -m x lr=1 train.batch_size=32", "retry.effective"},
		{tooBig, "yolo detect train data=coco.yaml model=yolov8x.pt batch=16", "retry.automatic"},
		{tooBig, "python pretrain.py --micro-batch-size 8 --global-batch-size 64", "retry.automatic"},
		{validating, "python train.py --batch-size 8 --val-batch-size 16", "retry.validation"},
		{validating, "python run.py --per_device_train_batch_size 8 --do_eval", "retry.validation"},
		{validating, "yolo detect train data=coco.yaml model=yolov8x.pt batch=16", "retry.automatic"}, // of both
	} {
		args := strings.Fields(row[1])
		c, no := Next(Death{Explanation: explained(t, row[0], args...), Args: args})
		if no != nil || c.note.id != row[2] || c.Note(lang.English()) == "" {
			t.Errorf("%s: %v, %v, %q; want %s", row[1], no, c.what, c.note.id, row[2])
		}
	}
	if text := (Change{}).Note(lang.English()); text != "" {
		t.Errorf("of nothing: %q", text)
	}
}

// Options of the allocator that this PyTorch does not know are not set, nor those that cannot stand beside one another.
func TestAllocatorVersions(t *testing.T) {
	args := []string{"python", "train.py"}
	for _, row := range []struct{ framework, version, want string }{
		{"pytorch", "1.13.1", "no"}, {"pytorch", "2.0.1", "no"}, {"pytorch", "2.1", "garbage_collection_threshold:0.8,"},
		{"pytorch", "2.4.9", "garbage_collection_threshold:0.8,"}, {"pytorch", "2.5.0+cu124", "max_split_size_mb:64,garbage_collection_threshold:0.8,"},
		{"pytorch", "3.0.0", "max_split_size_mb:64,garbage_collection_threshold:0.8,"},
		{"pytorch", "", "max_split_size_mb:64,garbage_collection_threshold:0.8,"}, // not known
		{"pytorch", "1", "max_split_size_mb:64,garbage_collection_threshold:0.8,"},
		{"pytorch", "x.1", "max_split_size_mb:64,garbage_collection_threshold:0.8,"},
		{"pytorch", "1.x", "max_split_size_mb:64,garbage_collection_threshold:0.8,"},
		{"paddle", "1.0.0", "max_split_size_mb:64,garbage_collection_threshold:0.8,"}, // another count
	} {
		d := Death{Explanation: explained(t, fragmented), Args: args, Env: []string{cudaOptions + "=max_split_size_mb:64,garbage_collection_threshold:0.8"}}
		e := d.event()
		e.Framework, e.Context = row.framework, &sampler.LogContext{FrameworkVersion: row.version}
		c, no := expandSegments(&d)
		got := "no"
		if no == nil {
			value, _ := Get(c.Env, cudaOptions)
			got = strings.TrimSuffix(value, "expandable_segments:True")
		} else if no.id != "retry.old_torch" {
			t.Errorf("%s: %s", row.version, no.id)
		}
		if got != row.want {
			t.Errorf("%s %q: %s, want %s", row.framework, row.version, got, row.want)
		}
	}
	d := Death{Explanation: explained(t, fragmented), Args: args}
	d.event().Reserved = sampler.Some(40 * sampler.GiB) // as messages before 2.1 tell it
	if c, no := expandSegments(&d); no == nil || no.id != "retry.old_torch" {
		t.Errorf("an old message: %v", c.Env)
	}
}

// What a command says of its GPUs.
func TestGPUsOfACommand(t *testing.T) {
	for _, row := range []struct {
		args    string
		count   int
		devices string
	}{
		{"python t.py", 1, ""},
		{"python t.py --gpus 1", 1, ""},
		{"python t.py --gpus 2", 2, ""},
		{"python t.py --gpus 2,3", 2, ""},
		{"python t.py --gpus 99999999999999999999", 1, ""}, // no number of GPUs
		{"python t.py --num_processes 1 --device 0,1", 2, "0 1"},
		{"python t.py --device 2", 1, "2"},
		{"python t.py --device cuda:1", 1, "1"},
		{"python t.py --device cuda:0", 1, ""},
		{"python t.py --gpu 0,x", 1, ""},
		{"bash -c \"python t.py --device cuda:3\"", 1, "3"},
	} {
		args := splitWords(strings.ReplaceAll(strings.ReplaceAll(row.args, " ", "|"), "\"", ""))
		if i := slices.Index(args, "-c"); i >= 0 {
			args = append(args[:i+1:i+1], strings.Join(args[i+1:], " "))
		}
		if n, list := CountOf(args), strings.Join(Devices(args), " "); n != row.count || list != row.devices {
			t.Errorf("%s: %d GPUs, those of %q; want %d, %q", row.args, n, list, row.count, row.devices)
		}
	}
}

// Of two GPUs that are as free the first is taken.
func TestFreestIsTheFirst(t *testing.T) {
	gpu := func(uuid string, free sampler.Bytes) GPU {
		return GPU{UUID: uuid, Free: sampler.Some(free), Fits: true}
	}
	g := &GPUs{List: []GPU{gpu("GPU-a", 8), gpu("GPU-b", 10), gpu("GPU-c", 10), gpu("GPU-d", 9)}, Failed: "GPU-a"}
	if best := g.freest(1.1); best == nil || best.UUID != "GPU-b" {
		t.Errorf("%+v", best)
	}
	if best := g.freest(muchFreer); best != nil { // 10 of 8 are just as many
		t.Errorf("left for %+v", best)
	}
}

// A cause is as good as the first while it is said with no more than a tenth less confidence.
func TestNearly(t *testing.T) {
	const first = 0.5
	got := nearly([]sampler.Cause{{ID: "a", Confidence: first}, {ID: "b", Confidence: first - nearlySure}, {ID: "c", Confidence: first - nearlySure - 0.01}})
	if !slices.Equal(got, []string{"a", "b"}) {
		t.Error(got)
	}
}

// Where the options of the program stand in a command of a shell, and what is not the program's.
func TestPlaces(t *testing.T) {
	for _, row := range [][2]string{
		{"bash|-c", "no: no_batch"},
		{"sh|-c|python train.py --batch-size 32 \"$@\"|x", "sh|-c|python train.py --batch-size 16 \"$@\"|x"},
		{"sh|-c|python train.py|x|--batch-size|32", "no: no_batch"}, // nobody reads it
	} {
		if got := next(t, tooBig, nil, nil, splitWords(row[0])...); got != row[1] {
			t.Errorf("%s\nbecame %s\n  want %s", row[0], got, row[1])
		}
	}
	if got := next(t, fragmented, nil, nil, "docker", "exec", "box", "python", "t.py"); got != "no: border" {
		t.Errorf("a container that runs already: %s", got)
	}
}

// All changes together are one list: of each option the value that the first try had and the one that the last has.
func TestAllChanges(t *testing.T) {
	batch := func(option string, after, before int) Change {
		return Change{what: sentence{"retry.batch", []any{"option", option, "after", after, "before", before}}}
	}
	set := func(text string) Change { return Change{what: sentence{"retry.setting", []any{"setting", text}}} }
	list := []Change{batch("--bs", 16, 32), set("A=1"), batch("--val-bs", 2, 8), batch("--bs", 8, 16), set("B=2")}
	if got, want := All(list, lang.English()), "--bs 8 instead of 32, A=1, --val-bs 2 instead of 8, B=2"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := list[3].What(lang.English()); got != "--bs 8 instead of 16" {
		t.Errorf("a change itself was changed: %q", got)
	}
	if All(nil, lang.English()) != "" {
		t.Error("of none")
	}
}

func TestResumeIsEmpty(t *testing.T) {
	some, err := ParseResume("--resume x")
	if err != nil || some.Empty() || !(Resume{}).Empty() {
		t.Error(err, some)
	}
}
