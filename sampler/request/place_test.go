package request

import (
	"testing"
	"time"

	"nvpeak/sampler"
)

// Which GPU a process means by a number.
func TestOrdinals(t *testing.T) {
	container := sampler.Some("docker:1")
	rows := map[string]struct {
		env       map[string]string
		container sampler.Opt[string]
		mixed     bool
		device    int
		want      int // -1: not known
	}{
		"one is visible, no number":             {map[string]string{"CUDA_VISIBLE_DEVICES": "3"}, sampler.Opt[string]{}, false, -1, 3},
		"several are, no number":                {map[string]string{"CUDA_VISIBLE_DEVICES": "3,1"}, sampler.Opt[string]{}, false, -1, -1},
		"mixed GPUs, one visible, no number":    {map[string]string{"CUDA_VISIBLE_DEVICES": "1"}, sampler.Opt[string]{}, true, -1, -1},
		"nothing is said":                       {map[string]string{}, sampler.Opt[string]{}, false, 2, 2},
		"the environment is not readable":       {nil, sampler.Opt[string]{}, false, 2, -1},
		"one is visible":                        {map[string]string{"CUDA_VISIBLE_DEVICES": "3"}, sampler.Opt[string]{}, false, 0, 3},
		"in another order":                      {map[string]string{"CUDA_VISIBLE_DEVICES": "2, 0"}, sampler.Opt[string]{}, false, 1, 0},
		"beyond what is visible":                {map[string]string{"CUDA_VISIBLE_DEVICES": "2,0"}, sampler.Opt[string]{}, false, 2, -1},
		"up to the first that is none":          {map[string]string{"CUDA_VISIBLE_DEVICES": "2,-1,0"}, sampler.Opt[string]{}, false, 1, -1},
		"none is visible":                       {map[string]string{"CUDA_VISIBLE_DEVICES": ""}, sampler.Opt[string]{}, false, 0, -1},
		"by UUID":                               {map[string]string{"CUDA_VISIBLE_DEVICES": "GPU-3,GPU-1"}, sampler.Opt[string]{}, false, 1, 1},
		"by the beginning of a UUID":            {map[string]string{"CUDA_VISIBLE_DEVICES": "GPU-"}, sampler.Opt[string]{}, false, 0, 0},
		"mixed GPUs, fastest first":             {map[string]string{}, sampler.Opt[string]{}, true, 1, -1},
		"mixed GPUs, a number of that order":    {map[string]string{"CUDA_VISIBLE_DEVICES": "1"}, sampler.Opt[string]{}, true, 0, -1},
		"mixed GPUs, by UUID":                   {map[string]string{"CUDA_VISIBLE_DEVICES": "GPU-2"}, sampler.Opt[string]{}, true, 0, 2},
		"mixed GPUs in the order of the bus":    {map[string]string{"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}, sampler.Opt[string]{}, true, 1, 1},
		"a container with two of them":          {map[string]string{"NVIDIA_VISIBLE_DEVICES": "1,3"}, container, false, 1, 3},
		"and one visible of those":              {map[string]string{"NVIDIA_VISIBLE_DEVICES": "1,3", "CUDA_VISIBLE_DEVICES": "1"}, container, false, 0, 3},
		"a container with all":                  {map[string]string{"NVIDIA_VISIBLE_DEVICES": "all"}, container, false, 1, 1},
		"an image's variable without container": {map[string]string{"NVIDIA_VISIBLE_DEVICES": "3"}, sampler.Opt[string]{}, false, 1, 1},
	}
	for name, row := range rows {
		s := newScene(t, 4, people{7: {Environment: row.env, Container: row.container}})
		if row.mixed {
			s.gpus[1].Name = "B"
			s.apply()
		}
		s.call("cuMemAlloc_v2", Call{Address: 1, Size: uint64(gib), Device: row.device})
		snap, got := s.apply(), -1
		for i := range snap.GPUs {
			if len(snap.GPUs[i].Processes) > 0 {
				got = i
			}
		}
		if got != row.want {
			t.Errorf("%s: device %d is GPU %d, not %d", name, row.device, got, row.want)
		}
	}
}

// Where the number is not known: the only GPU, the only one that lists the process.
func TestPlacedByList(t *testing.T) {
	s := newScene(t, 1, people{7: {}})
	s.call("cuMemAlloc_v2", Call{Address: 1, Size: uint64(gib), Device: -1})
	if r := s.requests(0); r.Live != gib {
		t.Errorf("of one GPU: %+v", r)
	}
	s = newScene(t, 3, people{7: {}})
	s.list(2, 7, sampler.Some(gib))
	s.call("cuMemAlloc_v2", Call{Address: 1, Size: uint64(gib), Device: -1})
	if r := s.requests(2); r.Live != gib {
		t.Errorf("of three GPUs: %+v", r)
	}
	// The environment says GPU 0, the driver lists it on 2.
	s = newScene(t, 3, people{7: {Environment: map[string]string{}}})
	s.list(2, 7, sampler.Some(gib))
	s.call("cuMemAlloc_v2", Call{Address: 1, Size: uint64(gib), Device: 0})
	if r := s.requests(2); r.Live != gib {
		t.Errorf("against the environment: %+v", r)
	}
}

// A request on a GPU that is not watched is of none that is, whatever the driver lists and whichever use rises.
func TestNotWatched(t *testing.T) {
	env := func(visible string) map[string]string {
		if visible == "" {
			return map[string]string{}
		}
		return map[string]string{"CUDA_VISIBLE_DEVICES": visible}
	}
	for name, row := range map[string]struct {
		env    map[string]string
		unlike bool // the machine's GPUs, not those that are watched
		listed bool // on GPU 1
		device int
		both   bool // it asks on GPU 1 as well
		want   int  // index of all four GPUs; -1: not known, or it has nothing to do with those that are watched
	}{
		"by its number":                   {env(""), false, false, 3, false, -1},
		"and asks on a watched one, too":  {env(""), false, false, 3, true, 3},
		"and listed elsewhere":            {env(""), false, true, 3, false, 3},
		"by what is visible":              {env("3"), false, true, 0, false, 3},
		"on a watched one":                {env(""), false, true, 1, false, 1},
		"on a watched one, not listed":    {env(""), false, false, 1, false, 1},
		"unlike others that are not seen": {env(""), true, true, 1, false, -1},
		"not known":                       {nil, false, true, 3, false, -1},
	} {
		s := newScene(t, 4, people{7: {Environment: row.env}})
		var all []sampler.Device
		for i := range s.gpus {
			all = append(all, sampler.Device{Index: i, UUID: s.gpus[i].UUID, Name: "A"})
		}
		if row.unlike {
			all[0].Name = "B"
		}
		s.Machine(all)
		s.gpus = s.gpus[1:3]
		if row.listed {
			s.list(0, 7, sampler.Some(gib))
		}
		s.apply()
		if row.both {
			s.call("cuMemAlloc_v2", Call{Address: 2, Size: uint64(mib), Device: 1})
		}
		s.call("cuMemAlloc_v2", Call{Address: 1, Size: uint64(gib), Device: row.device})
		s.call("cuMemAlloc_v2", Call{Size: uint64(90 * gib), Device: row.device, Answer: outOfMemory})
		s.later(3 * time.Second)
		snap, told, with := s.apply(), -1, -1
		for _, r := range snap.Requests {
			told = r.GPU.Or(-1)
		}
		for i := range snap.GPUs {
			for _, p := range snap.GPUs[i].Processes {
				if p.Requests != nil {
					with = snap.GPUs[i].Index
				}
			}
		}
		if watched := row.want == 1 || row.both; told != row.want || (with == 1) != watched || !watched && with >= 0 {
			t.Errorf("%s: told on GPU %d, in the list of %d; it is on %d", name, told, with, row.want)
		}
	}
}

// The GPU whose use rises by as much, or by what is nearer to that than to nothing, again and again.
func TestLearned(t *testing.T) {
	rows := map[string]struct {
		rises [2]sampler.Bytes // of GPU 0 and 1 at each grant
		want  int
	}{
		"GPU 1 rises":             {[2]sampler.Bytes{0, 4 * gib}, 1},
		"both rise":               {[2]sampler.Bytes{4 * gib, 4 * gib}, -1},
		"none does":               {[2]sampler.Bytes{}, -1},
		"nearly as much":          {[2]sampler.Bytes{4*gib - gib/2, 0}, 0},
		"half as much":            {[2]sampler.Bytes{2 * gib, 0}, -1},
		"more, for others rise":   {[2]sampler.Bytes{6 * gib, 0}, 0},
		"one a little, one right": {[2]sampler.Bytes{gib, 4 * gib}, 1},
	}
	for name, row := range rows {
		s := newScene(t, 2, people{7: {}})
		used := [2]sampler.Bytes{gib, 2 * gib}
		for i := range used {
			s.Reading(s.gpus[i].Key(), s.now, used[i])
		}
		for n := range uint64(5) {
			s.later(ms(300))
			s.call("cuMemAlloc_v2", Call{Address: n + 1, Size: uint64(4 * gib), Context: 0xdead, Device: -1})
			s.later(ms(20))
			for i := range used {
				used[i] += row.rises[i]
				s.Reading(s.gpus[i].Key(), s.now, used[i])
			}
			s.later(time.Second)
			s.apply()
		}
		snap, got := s.apply(), -1
		for i := range snap.GPUs {
			if len(snap.GPUs[i].Processes) > 0 {
				got = i
			}
		}
		if got != row.want {
			t.Errorf("%s: GPU %d, not %d", name, got, row.want)
		}
	}
}

// Where the driver lists the process it may be, and nowhere else.
func TestListOutweighsVotes(t *testing.T) {
	s := newScene(t, 2, people{7: {}})
	for n := range uint64(3) {
		s.later(ms(300))
		s.call("cuMemAlloc_v2", Call{Address: n + 1, Size: uint64(4 * gib), Context: 0xdead, Device: -1})
		s.Reading(s.gpus[1].Key(), s.now, sampler.Bytes(n+1)*4*gib) // of another process
		s.later(time.Second)
		s.apply()
	}
	s.list(0, 7, sampler.Some(12*gib))
	if r := s.requests(0); r.Live != 12*gib {
		t.Errorf("%+v", r)
	}
}

// Two ways to the same GPU are one account.
func TestJoined(t *testing.T) {
	s := newScene(t, 1, people{7: {}})
	s.context(0)
	s.alloc(1, 3*gib)
	s.call("cuMemAlloc_v2", Call{TID: 99, Address: 2, Size: uint64(5 * gib), Device: -1})
	if r := s.requests(0); r.Live != 8*gib || r.Peak != 8*gib || r.Granted != 2 || r.Largest != 5*gib {
		t.Errorf("%+v", r)
	}
	s.free(1)
	s.call("cuMemAlloc_v2", Call{TID: 99, Address: 3, Size: uint64(4 * gib), Device: -1})
	if r := s.requests(0); r.Live != 9*gib || r.Peak != 9*gib {
		t.Errorf("then %+v", r)
	}
}

// Who is refused on one GPU and goes on on another is not listed there yet: what it is granted is the other's all the same.
func TestSecondGPU(t *testing.T) {
	s := newScene(t, 2, people{7: {Environment: map[string]string{}}})
	s.context(0)
	s.alloc(1, 14*gib)
	s.list(0, 7, sampler.Some(14*gib))
	s.refused(60 * gib)
	s.apply()
	s.context(1)
	s.call("cuMemAlloc_v2", Call{Address: 2, Size: uint64(gib), Context: 0xc001, Device: -1})
	first := s.apply()
	if q := first.Requests; len(q) != 1 || q[0].GPU.Or(-1) != 1 {
		t.Errorf("%+v", q)
	}
	s.list(1, 7, sampler.Some(gib))
	if a, b := s.requests(0), s.requests(1); a.Live != 14*gib || a.Peak != 14*gib || a.Refused != 1 || b.Live != gib || b.Refused != 0 || b.Granted != 1 {
		t.Errorf("%+v and %+v", a, b)
	}
}

// Where one of several GPUs is watched, a process whose context was made before anybody looked is on that one if it is listed there and the
// use follows its calls.
func TestLearnedOfOne(t *testing.T) {
	for follows, want := range map[bool]bool{true: true, false: false} {
		s := newScene(t, 1, people{7: {}})
		s.Machine([]sampler.Device{{Index: 0, UUID: s.gpus[0].UUID, Name: "A"}, {Index: 1, UUID: "GPU-other", Name: "A"}})
		s.list(0, 7, sampler.Some(gib))
		s.apply()
		used := 2 * gib
		for n := range uint64(5) {
			s.later(ms(300))
			s.call("cuMemAlloc_v2", Call{Address: n + 1, Size: uint64(4 * gib), Context: 0xdead, Device: -1})
			s.later(ms(20))
			if follows {
				used += 4 * gib
			}
			s.Reading(s.gpus[0].Key(), s.now, used)
			s.later(time.Second)
			s.apply()
		}
		if got := s.of(0, 7).Requests != nil; got != want {
			t.Errorf("its use follows %v: placed %v", follows, got)
		}
	}
}
