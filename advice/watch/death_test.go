package watch

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"nvpeak/advice/advicetest"
	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

// ends plays a process that holds 30 GiB of 40, with requests at some second, and is listed until 4 s.
func ends(gpus int, change func(second int, s *sampler.Snapshot)) *Watch {
	w := New(Options{})
	for i := range 14 {
		s := sampler.Snapshot{Time: drivenTime(float64(i))}
		for n := range gpus {
			s.GPUs = append(s.GPUs, gpuOf(n, 40960, 1000))
			s.GPUs[n].UUID = string(rune('a' + n))
		}
		if s.GPUs[0] = gpuOf(0, 40960, 31000); i <= 4 {
			p := processOf(7, "python a.py", 30000)
			p.Requests = &sampler.Requests{Granted: 9, Live: 29 * gib, Largest: 5 * gib}
			s.GPUs[0].Processes = []sampler.Process{p}
		} else {
			s.GPUs[0] = gpuOf(0, 40960, 1000)
		}
		s.GPUs[0].UUID = "a"
		change(i, &s)
		w.Add(s)
	}
	return w
}

// A process whose last list came before its refusal is known to have died of it by the requests alone, where they are
// known to be of its GPU.
func TestDeathByRequests(t *testing.T) {
	for name, row := range map[string]struct {
		gpus  int
		gpu   sampler.Opt[int]
		uuid  string
		at    []float64
		tries int // 0: no death
	}{
		"twice":           {2, sampler.Some(0), "a", []float64{4.3, 4.4}, 2},
		"once":            {2, sampler.Some(0), "", []float64{4.3}, 1},
		"of the only GPU": {1, sampler.Opt[int]{}, "", []float64{4.3, 4.4}, 2},
		"of which GPU?":   {2, sampler.Opt[int]{}, "", []float64{4.3, 4.4}, 0},
		"of another":      {2, sampler.Some(1), "", []float64{4.3, 4.4}, 0},
		"of its instance": {2, sampler.Some(0), "b", []float64{4.3, 4.4}, 0},
		"apart by 2 s":    {1, sampler.Some(0), "", []float64{2.5, 4.5}, 2},
		"apart by more":   {1, sampler.Some(0), "", []float64{2.3, 4.4}, 1},
	} {
		w := ends(row.gpus, func(second int, s *sampler.Snapshot) {
			if second != 5 {
				return
			}
			for _, at := range row.at {
				s.Requests = append(s.Requests, sampler.Request{Time: drivenTime(at), PID: 7, GPU: row.gpu, UUID: row.uuid, Bytes: 15 * gib, Answer: 2, Function: "cuMemAlloc_v2"})
			}
		})
		tries := 0
		for _, d := range w.Deaths() {
			tries = d.refusal.Tries
			if free, ok := d.Incident.History.Free.Value(); !ok || free != 9960*mib || d.Event.GPUFree.Known() || d.Event.Requested.Or(0) != 15*gib {
				t.Errorf("%s: %v free, %+v", name, free, d.Event)
			}
		}
		if tries != row.tries || (len(w.Past()) > 0) != (tries > 0) {
			t.Errorf("%s: %d tries, want %d: %+v", name, tries, row.tries, w.Past())
		}
	}
}

// Who asks for more than the GPU has is told that, and not how much was free; if it tried again with less that would fit, what was free
// counts.
func TestMoreThanTheGPU(t *testing.T) {
	for name, row := range map[string]struct {
		sizes []sampler.Bytes
		want  string
	}{
		"more":               {[]sampler.Bytes{50 * gib, 41 * gib}, "died: 50.0 GiB refused, more than the GPU has in all (40.0 GiB)"},
		"all of it":          {[]sampler.Bytes{40 * gib}, "died: 40.0 GiB refused with 9.7 GiB free"},
		"more, and then not": {[]sampler.Bytes{50 * gib, 20 * gib}, "died: 50.0 GiB refused with 9.7 GiB free"},
	} {
		w := ends(1, func(second int, s *sampler.Snapshot) {
			if second != 4 {
				return
			}
			r := &s.GPUs[0].Processes[0].Requests.Refusal
			*r = &sampler.Refusal{Time: s.Time, Bytes: row.sizes[0], Smallest: row.sizes[len(row.sizes)-1], Tries: len(row.sizes), Free: sampler.Some(9960 * mib)}
		})
		if got := w.Past(); len(got) != 1 || !strings.HasSuffix(got[0].Text, row.want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// What was free, and what follows from it, is said as about so much where it is no more than that.
func TestAboutFree(t *testing.T) {
	for about, want := range map[bool]string{true: "12.0 GiB refused with ~9.7 GiB free", false: "12.0 GiB refused with 9.7 GiB free"} {
		w := ends(1, func(second int, s *sampler.Snapshot) {
			if second == 4 {
				s.GPUs[0].Processes[0].Requests.Refusal = &sampler.Refusal{Time: s.Time, Bytes: 12 * gib, Smallest: 12 * gib, Tries: 1, Free: sampler.Some(9960 * mib), FreeAbout: about}
			}
		})
		if got := w.Past(); len(got) != 1 || !strings.HasSuffix(got[0].Text, want) {
			t.Errorf("about %v: %+v", about, got)
		}
		deaths := w.Deaths()
		if len(deaths) != 1 {
			t.Fatalf("about %v: %d deaths", about, len(deaths))
		}
		detail := explain.Explain(deaths[0].Incident).Events[0].Detail
		if strings.Contains(detail, "~9.73 GiB was free: ~2.27 GiB short") != about || strings.Contains(detail, "~") != about {
			t.Errorf("about %v: %s", about, detail)
		}
	}
}

// The size of a death is what was asked for first, though the program tried again with less (JAX, TensorFlow); the least of
// it would have done.
func TestFallingSeries(t *testing.T) {
	for _, bare := range []bool{false, true} {
		d := &driven{bare: bare}
		j := trained(d, 34)
		for n := 16 * gib; n > 8*gib; n = n / 10 * 9 {
			j.ask(n)
		}
		d.wait(2)
		j.exits(1)
		w := New(Options{})
		for _, s := range d.snapshots() {
			w.Add(s)
		}
		deaths := w.Deaths()
		if len(deaths) != 1 || deaths[0].Event.Requested.Or(0) != 16*gib || deaths[0].refusal.Smallest >= 9*gib {
			t.Fatalf("one by one %v: %+v", !bare, deaths)
		}
		if got := w.needs.refused[0].bytes; got != deaths[0].refusal.Smallest {
			t.Errorf("one by one %v: the need is %v", !bare, got)
		}
	}
}

// A log that tells of one death does not hide another.
func TestTwoDeaths(t *testing.T) {
	for logs, want := range map[int]int{0: 2, 1: 1, 2: 0} {
		w := ends(1, func(second int, s *sampler.Snapshot) {
			if second > 4 {
				return
			}
			q := processOf(8, "python b.py", 500)
			s.GPUs[0].Processes = append(s.GPUs[0].Processes, q)
			for i := range s.GPUs[0].Processes {
				p := &s.GPUs[0].Processes[i]
				p.Requests = &sampler.Requests{Granted: 9, Live: gib}
				if second == 4 {
					p.Requests.Refusal = &sampler.Refusal{Time: s.Time, Bytes: sampler.Bytes(12+8*i) * gib, Tries: 2}
				}
			}
		})
		for i := range logs {
			w.Event(sampler.OOMEvent{MemoryKind: sampler.MemoryGPU, Requested: sampler.Some(sampler.Bytes(20-8*i)*gib - mib), Line: 3 + i}, drivenTime(14))
		}
		if got := len(w.Deaths()); got != want || len(w.Past()) != 2 || len(w.failures) != 2 {
			t.Errorf("%d logs: %d deaths without one, want %d, %d alerts, %d failures", logs, got, want, len(w.Past()), len(w.failures))
		}
	}
}

// A piece is of an expandable segment: by that function, of one of its two sizes.
func TestPiece(t *testing.T) {
	for r, want := range map[sampler.Refusal]bool{
		{Function: "cuMemCreate", Bytes: 2 * mib}: true, {Function: "cuMemCreate", Bytes: 20 * mib}: true,
		{Function: "cuMemCreate", Bytes: 22 * mib}: false, {Function: "cuMemAlloc_v2", Bytes: 20 * mib}: false,
	} {
		if got := piece(&r); got != want {
			t.Errorf("%+v: %v", r, got)
		}
	}
}

// What is held is not due, however often it was asked for.
func TestAgainHeld(t *testing.T) {
	var a again
	for at := 0.0; at < 100; at += 25 {
		a.take(&sampler.Request{Bytes: gib}, at)
		a.fold(gib, 2*gib, at, 100)
		if _, _, ok := a.due(at); ok {
			t.Errorf("held at %v, and due", at)
		}
		a.fold(2*gib, gib, at+1, 100)
		if _, _, ok := a.due(at + 1); ok != (at > 0) {
			t.Errorf("given back at %v: due %v", at, ok)
		}
	}
}

// Many programs may die within one snapshot: each is told.
func TestDieTogether(t *testing.T) {
	d := &driven{}
	d.wait(2)
	var ranks []*drivenJob
	for n := range 60 {
		j := d.job(5000+n, fmt.Sprintf("python train%d.py", n))
		j.ask(100 * mib)
		ranks = append(ranks, j)
	}
	d.wait(5)
	for _, j := range ranks {
		j.torch(30*gib, 0)
	}
	for _, j := range ranks {
		j.exits(1)
	}
	if n := len(d.told()); n != len(ranks) {
		t.Errorf("%d alerts", n)
	}
}

// What a process holds that was gone before the driver listed it is known by its calls: it is nobody else's.
func TestShortLife(t *testing.T) {
	d := &driven{}
	d.wait(2)
	d.job(5000, "python other.py").ask(2 * gib)
	d.wait(3.4)
	j := d.job(4242, "python train.py")
	for range 2 {
		j.ask(15 * gib)
	}
	j.torch(12*gib, 0)
	j.exits(1)
	w := New(Options{})
	for _, s := range d.snapshots() {
		w.Add(s)
	}
	deaths := w.Deaths()
	if len(deaths) != 1 || deaths[0].Incident.History.Process.Or(0) != 30*gib {
		t.Fatalf("%+v", deaths)
	}
	if got := texts(w.Past()); strings.Contains(got, "not this job") || !strings.Contains(got, "12.0 GiB refused") {
		t.Error(got)
	}
}

// Of a context that was refused no size is known, nor is it a piece of anything.
func TestContextDeath(t *testing.T) {
	d := &driven{}
	full(d).context()
	d.wait(0.3)
	d.jobs[1].exits(1)
	if got := texts(d.told()); strings.Contains(got, "piece") || strings.Contains(got, "0 B") || !strings.Contains(got, "0.51 GiB was free of 40.00 GiB") {
		t.Error(got)
	}
}

// Who gives all back, piece by piece, before it ends held it when it was refused memory, whatever the driver's last figure is.
func TestUnwinds(t *testing.T) {
	for name, row := range map[string]struct {
		pieces int // given back before it ends
		other  sampler.Bytes
	}{"all": {6, 0}, "some": {3, 0}, "beside another": {6, 9 * gib}, "some, beside another": {3, 9 * gib}} {
		d := &driven{}
		d.wait(2)
		if row.other > 0 {
			d.job(5000, "python other.py").ask(row.other)
		}
		d.wait(3)
		j := d.job(4242, "python train.py")
		for range 6 {
			j.ask(4 * gib)
		}
		d.wait(8.9)
		j.ask(16*gib - row.other/2)
		for range row.pieces {
			j.give()
			d.wait(0.3)
		}
		j.exits(134)
		w := New(Options{})
		for _, s := range d.snapshots() {
			w.Add(s)
		}
		deaths := w.Deaths()
		if len(deaths) != 1 {
			t.Fatalf("%s: %+v", name, deaths)
		}
		if held := deaths[0].Incident.History.Process.Or(0); held < 24*gib || held > 25*gib {
			t.Errorf("%s: it held %v", name, held)
		}
		if said := strings.Contains(texts(w.Past()), "not this job"); said != (row.other > 0) {
			t.Errorf("%s: %s", name, texts(w.Past()))
		}
	}
}

// A death is told at once where its end is known, though others are gone at the same time of which nothing is.
func TestGoneTogether(t *testing.T) {
	w := ends(1, func(second int, s *sampler.Snapshot) {
		if second > 4 {
			return
		}
		list := &s.GPUs[0].Processes
		if second == 4 {
			r := (*list)[0].Requests
			r.Refused, r.ExitStatus = 1, sampler.Some(1)
			r.Refusal = &sampler.Refusal{Time: s.Time, Bytes: 12 * gib, Tries: 1}
		}
		*list = append(*list, processOf(8, "python b.py", 500))
	})
	if list := w.Past(); len(list) != 1 || list[0].Time.Sub(drivenTime(5)) != 0 {
		t.Errorf("%+v", list)
	}
}

// Who began after a refusal held nothing then, and where nothing says what was free, those for whom there was no room were not all there.
func TestThereThen(t *testing.T) {
	refused := advicetest.Epoch.Add(time.Minute)
	before, after := sampler.Some(refused.Add(-time.Second)), sampler.Some(refused.Add(time.Second))
	for name, row := range map[string]struct {
		free  sampler.Opt[sampler.Bytes]
		start sampler.Opt[time.Time]
		held  sampler.Bytes
		there bool
	}{
		"there before":                    {sampler.Opt[sampler.Bytes]{}, before, 20 * gib, true},
		"nobody knows since when":         {sampler.Some(gib), sampler.Opt[time.Time]{}, 20 * gib, true},
		"began later":                     {sampler.Some(gib), after, 20 * gib, false},
		"no room for both":                {sampler.Opt[sampler.Bytes]{}, before, 31 * gib, false},
		"no room, what was free is known": {sampler.Some(gib), before, 31 * gib, true},
	} {
		p, q := &proc{pid: 1, process: &sampler.Process{}}, &proc{pid: 2, process: &sampler.Process{}, start: row.start}
		p.asking.asked = sampler.Requests{Live: 10 * gib}
		p.asking.refusal = sampler.Refusal{Time: refused, Free: row.free}
		g := &gpu{procs: []*proc{p, q}, last: &sampler.GPU{Memory: sampler.Memory{Total: sampler.Some(40 * gib)}}}
		if got := len(g.thereThen(p, []explain.Neighbor{{PID: 2, Bytes: row.held}})) > 0; got != row.there {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// What may have ended of something else is told as a guess: who was granted memory since, lived on for a while, or was ended by somebody.
func TestProbablyDied(t *testing.T) {
	for name, row := range map[string]struct {
		then func(d *driven, j *drivenJob)
		exit int
		want string
	}{
		"at once":         {func(*driven, *drivenJob) {}, 1, "(python, ann) died: 12.0 GiB refused"},
		"seconds later":   {func(d *driven, _ *drivenJob) { d.wait(4) }, 1, "(python, ann) died: 12.0 GiB refused"},
		"long after":      {func(d *driven, _ *drivenJob) { d.wait(12) }, 1, "(python, ann) probably died of it: 12.0 GiB refused"},
		"granted some":    {func(_ *driven, j *drivenJob) { j.ask(20 * mib) }, 1, "(python, ann) probably died of it: 12.0 GiB refused"},
		"ended by others": {func(d *driven, _ *drivenJob) { d.wait(3) }, 143, "(python, ann) probably died of it: 12.0 GiB refused"},
	} {
		d := &driven{}
		d.wait(2)
		j := d.job(4242, "python train.py")
		j.ask(30 * gib)
		d.wait(1.5)
		j.torch(12*gib, 0)
		row.then(d, j)
		j.exits(row.exit)
		if got := texts(d.told()); !strings.Contains(got, row.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
