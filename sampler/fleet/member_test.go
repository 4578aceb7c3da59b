package fleet

import (
	"context"
	"testing"
	"time"

	"nvpeak/sampler"
)

// rig is a fleet with a clock that a test turns.
type rig struct {
	*Fleet
	at time.Time
}

func newRig(t *testing.T, o Options, sources ...string) *rig {
	t.Helper()
	r := &rig{Fleet: newFleet(o), at: noon}
	r.now = func() time.Time { return r.at }
	r.random = func() float64 { return 0 }
	var specs []Spec
	for _, s := range sources {
		list, err := Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		specs = append(specs, list...)
	}
	if err := r.add(specs); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) member(i int) *member { return r.slots[i].hosts[0] }

// update is what is waiting.
func (r *rig) update(t *testing.T) Update {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	u, err := r.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func used(at time.Time, n sampler.Bytes) *sampler.Snapshot {
	g := sampler.GPU{UUID: "GPU-1"}
	g.Memory.Total, g.Memory.Used = sampler.Some(80*sampler.GiB), sampler.Some(n)
	return &sampler.Snapshot{Time: at, Host: "another", GPUs: []sampler.GPU{g}, Alerts: []sampler.Alert{{ID: "theirs"}}}
}

// A host goes from connecting to ok, is late when two snapshots and more are missing, lost when it says so, and each change is told once, with its time.
func TestStates(t *testing.T) {
	r := newRig(t, Options{}, "ssh://box7,box8")
	m := r.member(0)
	expect := func(what string, want State, since time.Time, reason string) {
		t.Helper()
		u := r.update(t)
		if len(u.Hosts) != 2 || u.Hosts[0].Name != "box7" || u.Hosts[1].Name != "box8" {
			t.Fatalf("%s: %+v", what, u.Hosts)
		}
		if h := u.Hosts[0]; h.State != want || !h.Since.Equal(since) || h.Reason != reason {
			t.Errorf("%s: %+v", what, h)
		}
	}
	expect("at first", Connecting, noon, "")
	r.at = noon.Add(time.Second)
	m.figures(used(r.at, 1), news{via: "nvpeak"})
	expect("figures", OK, r.at, "")
	since := r.at
	r.at = since.Add(time.Second)
	m.figures(used(r.at, 1), news{via: "nvpeak"})
	if u := r.update(t); u.Hosts != nil || len(u.Snapshots) != 1 {
		t.Errorf("no change is told as one: %+v", u.Hosts)
	}
	heard := r.at
	r.at = heard.Add(3 * time.Second)
	r.lookForLate(r.at)
	if _, ok := r.take(); ok {
		t.Error("late after 3 s")
	}
	r.at = heard.Add(4 * time.Second)
	r.lookForLate(r.at)
	expect("late", Late, r.at, "no figures for 4s")
	r.at = heard.Add(9 * time.Second)
	r.lookForLate(r.at)
	m.lose("gone\x1b[2J", r.at.Add(time.Second))
	expect("lost", Lost, r.at, "gone?[2J")
	if h := m.host; !h.Retry.Equal(sampler.Some(r.at.Add(time.Second))) || !h.Heard.Equal(sampler.Some(heard)) || h.Via != "nvpeak" {
		t.Errorf("%+v", h)
	}
	r.at = r.at.Add(time.Second)
	m.figures(used(r.at, 1), news{via: "nvpeak"})
	expect("back", OK, r.at, "")
	if m.host.Retry.Known() {
		t.Error("it is to be tried again")
	}
}

// A snapshot has the name of its host here, no alerts of others, the highest peak since the fleet began, and times that go on.
func TestFigures(t *testing.T) {
	r := newRig(t, Options{}, "ssh://box7")
	m := r.member(0)
	r.at = noon.Add(time.Minute)
	m.figures(used(noon.Add(10*time.Second), 60*sampler.GiB), news{})
	m.figures(used(noon.Add(9*time.Second), 20*sampler.GiB), news{}) // an estimate of the clock there has changed
	m.figures(used(noon.Add(time.Hour), 30*sampler.GiB), news{})
	list := r.update(t).Snapshots
	if len(list) != 3 || !list[1].Time.Equal(noon.Add(10*time.Second+time.Millisecond)) || !list[2].Time.Equal(r.at) {
		t.Fatalf("%v", list)
	}
	for _, s := range list {
		if s.Host != "box7" || len(s.Alerts) != 0 || s.Alerts == nil || s.GPUs[0].Memory.Peak.Bytes != 60*sampler.GiB || s.Type != "snapshot" || s.Schema != sampler.Schema {
			t.Errorf("%+v", s)
		}
	}
}

// Who does not come for them finds the newest, and how many are missing.
func TestWaitingIsBounded(t *testing.T) {
	r := newRig(t, Options{}, "ssh://box7,box8")
	for i := range 100 {
		r.at = noon.Add(time.Duration(i) * time.Second)
		r.member(0).figures(used(r.at, sampler.Bytes(i)), news{})
	}
	r.member(1).figures(used(r.at, 1), news{})
	u := r.update(t)
	if len(u.Snapshots) != mostWaiting+1 {
		t.Fatal(len(u.Snapshots))
	}
	lost := 0
	for _, s := range u.Snapshots {
		lost += s.Lost
	}
	if newest := u.Snapshots[mostWaiting-1]; lost != 100-mostWaiting || newest.GPUs[0].Memory.Used != sampler.Some(sampler.Bytes(99)) {
		t.Errorf("%d are said to be lost, the newest is %v", lost, newest.GPUs[0].Memory.Used)
	}
	r.member(0).figures(used(r.at.Add(time.Second), 1), news{})
	if u := r.update(t); len(u.Snapshots) != 1 {
		t.Error("it does not go on")
	}
}

// Hosts have names of their own.
func TestNames(t *testing.T) {
	r := newRig(t, Options{}, "ssh://box7", "ssh://ann@box7", "ssh://box7", "http://box7:9835", "http://box7:9400", "http://box7:9400/other")
	var names []string
	for _, h := range r.update(t).Hosts {
		names = append(names, h.Name)
	}
	want := []string{"box7", "ann@box7", "box7:9835", "box7:9400", "box7:9400 (2)"}
	if len(names) != len(want) {
		t.Fatalf("%q", names)
	}
	for i := range want {
		if names[i] != want[i] {
			t.Errorf("%q, want %q", names, want)
		}
	}
	r.rename(r.member(2), "box7")
	r.rename(r.member(3), "gpu-7")
	if r.member(2).host.Name != "box7:9835" || r.member(3).host.Name != "gpu-7" {
		t.Error(r.member(2).host.Name, r.member(3).host.Name)
	}
}

func TestAddRefuses(t *testing.T) {
	if err := newFleet(Options{}).add(nil); err == nil {
		t.Error("a fleet of nobody")
	}
	if err := newFleet(Options{}).add(make([]Spec, mostHosts+1)); err == nil {
		t.Error("too many hosts")
	}
	if err := newFleet(Options{GPUs: []string{"0; rm -rf /"}}).add([]Spec{{Kind: SSH, Host: "box"}}); err == nil {
		t.Error("a GPU that a shell reads")
	}
}
