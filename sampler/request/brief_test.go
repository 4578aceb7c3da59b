package request

import (
	"testing"
	"time"

	"nvpeak/sampler"
)

// What a context takes of the GPU no call tells: where nobody has read since it was made, what was free is not known. Nor is it where more would
// be in use than there is, for the reading had the grant already.
func TestFreeUnknown(t *testing.T) {
	for name, row := range map[string]struct {
		used, after sampler.Bytes
		ended       bool
		free        sampler.Opt[sampler.Bytes]
	}{
		"nothing is read after":          {used: gib},
		"it is gone by then":             {used: gib, after: 2 * gib, ended: true},
		"it is there still":              {used: gib, after: 42 * gib, free: sampler.Some(6 * gib)},
		"the reading has the grant, too": {used: 42 * gib},
	} {
		s := newScene(t, 1, people{7: {}})
		s.Reading(s.gpus[0].Key(), s.now, row.used)
		s.later(ms(20))
		s.context(0)
		s.alloc(1, 40*gib)
		s.refused(20 * gib)
		if row.ended {
			s.Ended(7, s.now, 256)
		}
		s.later(ms(15))
		if row.after > 0 {
			s.Reading(s.gpus[0].Key(), s.now, row.after)
		}
		r := s.requests(0).Refusal
		if !r.Free.Equal(row.free) || r.FreeAge.Known() != row.free.Known() {
			t.Errorf("%s: %v free, by a reading of %v ms; want %v", name, r.Free, r.FreeAge, row.free)
		}
	}
	s := newScene(t, 1, people{7: {}})
	s.context(0)
	s.later(ms(3))
	s.Reading(s.gpus[0].Key(), s.now, 41*gib)
	s.now = s.now.Add(ms(3))
	s.alloc(1, 40*gib)
	s.refused(20 * gib)
	if r := s.requests(0).Refusal; r.Free.Known() {
		t.Errorf("counted twice: %v free", r.Free)
	}
}

// What a pool gave back no call tells: a reading from before that says nothing of a try after it, and one from after it nothing of a try before,
// unless both say the same.
func TestFreeBesideAPool(t *testing.T) {
	const held = 20
	none := sampler.Opt[sampler.Bytes]{}
	async := func(s *scene, at uint64, n sampler.Bytes) {
		s.call("cuMemAllocAsync", Call{Address: at, Size: uint64(n), Context: 0xc000, Device: -1})
	}
	back := func(s *scene, at uint64) { s.call("cuMemFreeAsync", Call{Address: at, Device: -1}) }
	trim := func(s *scene) { s.call("cuMemPoolTrimTo", Call{Device: -1}) }
	for name, row := range map[string]struct {
		play  func(s *scene)
		after sampler.Bytes // in use by a reading some ms later
		free  sampler.Opt[sampler.Bytes]
	}{
		"trimmed after it": {func(s *scene) {
			back(s, 1)
			s.refused(40 * gib)
			trim(s)
		}, (held - 4) * gib, sampler.Some((48 - held) * gib)},
		"trimmed after it, and the context is newer than the reading": {func(s *scene) {
			s.call("cuCtxCreate_v2", Call{Address: 0xc001, Device: 0})
			back(s, 1)
			s.refused(40 * gib)
			trim(s)
		}, (held - 4) * gib, none},
		"the context is newer, and it gave nothing back": {func(s *scene) {
			s.call("cuCtxCreate_v2", Call{Address: 0xc001, Device: 0})
			s.refused(40 * gib)
		}, (held + 1) * gib, sampler.Some((47 - held) * gib)},
		"it holds its context once more": {func(s *scene) {
			s.context(0)
			back(s, 1)
			s.refused(40 * gib)
			trim(s)
		}, (held - 4) * gib, sampler.Some((48 - held) * gib)},
		"trimmed before the last try": {func(s *scene) {
			back(s, 1)
			s.refused(40 * gib)
			trim(s)
			s.refused(40 * gib)
		}, (held - 4) * gib, none},
		"given back before the last try": {func(s *scene) {
			s.refused(40 * gib)
			back(s, 1)
			s.refused(40 * gib)
		}, (held - 4) * gib, none},
		"and the pool has kept it": {func(s *scene) {
			s.refused(40 * gib)
			back(s, 1)
			s.refused(40 * gib)
		}, held * gib, sampler.Some((48 - held) * gib)},
		"and it was read between": {func(s *scene) {
			s.refused(40 * gib)
			back(s, 1)
			s.later(ms(20))
			s.Reading(s.gpus[0].Key(), s.now, (held-4)*gib)
			s.later(ms(20))
			s.refused(40 * gib)
		}, (held - 4) * gib, sampler.Some((52 - held) * gib)},
		"given back long before the first": {func(s *scene) {
			back(s, 1)
			s.refused(40 * gib)
			s.refused(40 * gib)
		}, held * gib, sampler.Some((48 - held) * gib)},
	} {
		s := newScene(t, 1, people{7: {}})
		key := s.gpus[0].Key()
		s.context(0)
		async(s, 1, 4*gib)
		async(s, 2, 15*gib)
		s.later(ms(20))
		s.Reading(key, s.now, held*gib)
		s.later(ms(20))
		row.play(s)
		s.later(ms(15))
		s.Reading(key, s.now, row.after)
		if r := s.requests(0).Refusal; !r.Free.Equal(row.free) || r.FreeAge.Known() != row.free.Known() {
			t.Errorf("%s: %v free, by a reading of %v ms; want %v", name, r.Free, r.FreeAge, row.free)
		}
	}
}

// A reading of about the moment of a refusal may have been made after it, when memory had been given back, or before what was given just
// before: where it has more free than was refused, it tells nothing. What is read later does.
func TestFreeOfReadingAtRefusal(t *testing.T) {
	none := sampler.Opt[sampler.Bytes]{}
	for name, row := range map[string]struct {
		play func(s *scene, read func(sampler.Bytes))
		free sampler.Opt[sampler.Bytes] // at once
		used sampler.Bytes              // 20 ms later
		then sampler.Opt[sampler.Bytes] // what that says was free
	}{
		"before the last grant": {func(s *scene, read func(sampler.Bytes)) {
			s.alloc(1, 20*gib)
			read(20 * gib)
			s.now = s.now.Add(-700 * time.Microsecond)
			s.alloc(2, 20*gib)
			s.now = s.now.Add(-600 * time.Microsecond)
			s.refused(10 * gib)
		}, none, 40 * gib, sampler.Some(8 * gib)},
		"after the refusal": {func(s *scene, read func(sampler.Bytes)) {
			s.alloc(1, 20*gib)
			s.alloc(2, 20*gib)
			s.later(ms(5))
			read(20 * gib)
			s.now = s.now.Add(-800 * time.Microsecond)
			s.refused(10 * gib)
			s.now = s.now.Add(-900 * time.Microsecond)
			s.free(2)
			s.now = s.now.Add(-900 * time.Microsecond)
			s.alloc(2, 20*gib)
		}, none, 40 * gib, sampler.Some(8 * gib)},
		"a limit of its own": {func(s *scene, read func(sampler.Bytes)) {
			s.alloc(1, 20*gib)
			s.later(ms(5))
			read(20 * gib)
			s.later(ms(5))
			s.refused(10 * gib)
		}, sampler.Some(28 * gib), 20 * gib, sampler.Some(28 * gib)},
	} {
		s := newScene(t, 1, people{7: {}})
		read := func(n sampler.Bytes) { s.Reading(s.gpus[0].Key(), s.now, n) }
		s.context(0)
		s.later(ms(20))
		row.play(s, read)
		if r := s.requests(0).Refusal; !r.Free.Equal(row.free) {
			t.Errorf("%s: %v free, by a reading of %v ms", name, r.Free, r.FreeAge)
		}
		s.later(ms(20))
		read(row.used)
		if r := s.requests(0).Refusal; !r.Free.Equal(row.then) {
			t.Errorf("%s: later, %v free, by a reading of %v ms", name, r.Free, r.FreeAge)
		}
	}
}

// What was read right after the refusal and stands since is read again, though nobody passes that on: it has what is in it. The
// snapshot that has it is asked for.
func TestFreeByWhatStands(t *testing.T) {
	none := sampler.Opt[sampler.Bytes]{}
	for name, row := range map[string]struct {
		read    time.Duration // of the reading, after the retry
		told    time.Duration // of the snapshot, after that
		more    bool          // another call, 20 ms after the reading
		free    sampler.Opt[sampler.Bytes]
		another bool // snapshot is wanted
	}{
		"stands":             {0, ms(300), false, sampler.Some(8 * gib), false},
		"who knows":          {0, ms(200), false, none, true},
		"too long ago":       {0, ms(1200), true, none, false},
		"something was done": {0, ms(300), true, none, true},
		"read later":         {ms(20), ms(60), false, sampler.Some(8 * gib), false},
	} {
		s := newScene(t, 1, people{7: {}})
		key := s.gpus[0].Key()
		s.Reading(key, s.now, 0)
		s.later(ms(20))
		s.context(0)
		s.alloc(1, 20*gib)
		s.alloc(2, 20*gib)
		s.refused(10 * gib)
		<-s.Tracker.Refused()
		s.now = s.now.Add(-ms(1)).Add(200 * time.Microsecond)
		s.free(2)
		s.now = s.now.Add(-900 * time.Microsecond)
		s.alloc(3, 10*gib)
		s.later(row.read)
		s.Reading(key, s.now, 30*gib)
		if row.more {
			s.later(ms(20))
			s.free(3)
			s.alloc(3, 10*gib)
		}
		s.later(row.told)
		if r := s.requests(0).Refusal; !r.Free.Equal(row.free) {
			t.Errorf("%s: %v free, not %v", name, r.Free, row.free)
		}
		select {
		case <-s.Tracker.Refused():
			if !row.another {
				t.Errorf("%s: another snapshot is wanted", name)
			}
		default:
			if row.another {
				t.Errorf("%s: no other snapshot is wanted", name)
			}
		}
	}
}

// More than was refused is not said to have been free where calls near the reading may have been counted wrong.
func TestFreeOfUnsureReading(t *testing.T) {
	for near, want := range map[time.Duration]bool{0: false, ms(5): true} {
		s := newScene(t, 1, people{7: {}})
		s.context(0)
		s.later(ms(20))
		for i := range uint64(2 * tried) { // each reading has a call near it
			s.alloc(i+1, gib)
			s.now = s.now.Add(near)
			s.Reading(s.gpus[0].Key(), s.now, gib)
		}
		s.later(ms(5))
		s.refused(gib)
		if r := s.requests(0).Refusal; r.Free.Known() != want {
			t.Errorf("%v after a call: %v free", near, r.Free)
		}
	}
}

// leaving is a host whose process ends before its first request is looked at.
type leaving struct {
	people
	gone bool
	was  map[int]sampler.Process
}

func (h *leaving) Identify(list []sampler.Process) {
	if !h.gone {
		h.people.Identify(list)
		h.was[list[0].PID] = list[0]
		return
	}
	for i := range list {
		if p, ok := h.was[list[i].PID]; ok {
			list[i] = p
			list[i].Visible, list[i].Ended = false, true
		}
	}
}

// Who a process is, and with that its GPU, is known if it was met before it asked, however soon it ended.
func TestMet(t *testing.T) {
	for _, met := range []bool{true, false} {
		h := &leaving{people: people{7: {Name: "python", Environment: map[string]string{"CUDA_VISIBLE_DEVICES": "1"}}}, was: map[int]sampler.Process{}}
		s := newScene(t, 2, nil)
		s.Tracker = New(h)
		s.Begin(nil)
		s.apply()
		if met {
			s.Meet(7)
		}
		h.gone = true
		s.context(0)
		s.alloc(1, 40*gib)
		s.refused(20 * gib)
		s.Ended(7, s.now, 256)
		rows := s.apply().GPUs[1].Processes
		if !met {
			if len(rows) != 0 {
				t.Errorf("not met: %+v", rows)
			}
			continue
		}
		if len(rows) != 1 || rows[0].Ended || rows[0].Name != "python" || rows[0].Requests.Refused != 1 || rows[0].Requests.ExitStatus.Or(0) != 1 {
			t.Errorf("met: %+v", rows)
		}
	}
}
