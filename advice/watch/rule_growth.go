package watch

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"nvpeak/advice/explain"
	"nvpeak/advice/series"
	"nvpeak/sampler"
)

var ruleGrowth = Rule{
	Code:  sampler.AlertGrowth,
	Level: sampler.LevelCritical,
	Reason: "The memory has grown steadily since the first plateau, by the sequence of its peaks, both halves of the time agree, and it has " +
		"come most of the way; or it has risen by equal steps at equal intervals that were never given back, and one of the next does not " +
		"fit: a leak under a caching allocator, outputs that are kept, a schedule of larger and larger inputs.",
	HoldFor:    2 * time.Second,
	ClearAfter: 5 * time.Minute, // a cache that is emptied does not end a leak
	check:      checkGrowth,
}

const (
	// growthSure: a warning waits until growth has come two thirds of the way. Queues, buffers
	// and caches fill as steadily as leaks, and most end before; until then it is a notice.
	growthSure = 0.5
	// growthSoon is when growth becomes critical.
	growthSoon = 600
	// growthNear and stepsNear, of the GPU: with more room it is a notice. Much of what grows evenly ends by itself
	// below the limit (an index, a pool of a database, a texture cache, a model soup), most of it at 88 to 94 % and within
	// half an hour, and nothing but that it comes near tells them from leaks. What has gone on for growthLong seconds
	// is seldom such a one, and is told from growthNearLong. Stages of a program are large steps.
	growthNear     = 0.05
	growthNearLong = 0.08
	growthLong     = 2400
	stepsNear      = 0.05
	// growthNearQuick is that of a climb within growthQuick seconds, which with less room is over before anybody has read of it: outputs of a
	// validation that are kept, say.
	growthNearQuick = 0.2
	growthQuick     = 200
	// growthLead is how many seconds before its end a fast growth is no notice any more.
	growthLead = 60
	// growthBack, of the GPU: what a caching allocator gives back before a request fails, the median of
	// simulated leaks of large tensors, of which a quarter gave next to nothing and a quarter more than 3 %. Small tensors
	// leave all that is free in the segments of large ones until then, where these are used: 4 to 7 % in seven of eight. It
	// is at most that share of the room, for the sake of those that give nothing.
	growthBack          = 0.012
	growthBackMost      = 0.25
	growthBackSmall     = 0.05
	growthBackSmallMost = 0.6
	// Three equal steps say that a fourth may follow. Fewer than five are at least 1 % of the
	// GPU, for near the limit small ones come and go. Stages of larger and larger inputs are
	// three to six; eight steps, or five of a climb, are no schedule, and from then on those
	// that still fit are foreseen as far as two fifths of the time that they took so far.
	stepsFew   = 3
	stepsSome  = 5
	stepsMany  = 8
	stepsAhead = 0.4
	stepsLarge = 0.01
	// stepsMost of a growth that steps must have brought to tell more of it than its slope.
	stepsMost = 0.4
	// Steps that follow each other within 15 s are a climb. One that stays within 2 % of those
	// that came back is known. When one ends that will within as many seconds is not said: what is
	// given back first is worth several of its steps.
	climbSeconds = 15
	climbMargin  = 0.02
	// recordsBegin is how many seconds of a process what it reaches for the first time is its start: a server learns its longest requests.
	recordsBegin = 60
	// roomLeast, of the GPU: who goes on growing with less than most allocators give back does so in what
	// was released inside, and when that ends is not to be seen. roomLeastSmall is that of small tensors beside large ones.
	roomLeast      = 0.01
	roomLeastSmall = 0.04
)

func checkGrowth(f *Facts) []finding {
	if !f.live() {
		return nil
	}
	g := f.gpu
	var out []finding
	for _, p := range g.procs {
		if p.tick == g.tick {
			if found, ok := processGrowth(f, p); ok {
				found.endWith(f, p)
				switch {
				case g.byHand(p) && found.last && found.level != sampler.LevelNotice: // when a person goes on nobody knows
					found.level, found.eta = sampler.LevelWarning, sampler.Opt[float64]{}
				case g.byHand(p), explain.Spills(*p.process), g.lately.reached(p, f.now):
					found.id, found.level = noticeID, sampler.LevelNotice
				}
				out = append(out, found)
			}
		}
	}
	if found, ok := growthOf(f, 0, &g.rest, &g.growing); ok {
		out = append(out, found)
	}
	return out
}

// processGrowth is the growth of a process: of what it keeps where its cache is emptied, else of
// what it holds, else of what the log says that it has allocated. Most have no readings of the
// first and the last.
func processGrowth(f *Facts, p *proc) (found finding, ok bool) {
	known := false
	if p.dips.Enough() {
		found, ok, known = keptGrowth(f, p, &p.dips.Kept, "alert.growth.dips")
	}
	if !known || !ok && p.growing.Found && p.growing.Trend.Peaks {
		found, ok = growthOf(f, p.pid, &p.series, &p.growing)
	}
	if !ok && p.logged.Enough() {
		found, ok, _ = keptGrowth(f, p, &p.logged, "alert.growth.logged")
	}
	return found, ok
}

// growthOf is the growth of one holder, by its steps or by its trend.
func growthOf(f *Facts, pid int, s *series.Series, growth *series.Growth) (found finding, ok bool) {
	flight, steps := flightOf(f, s)
	steps = steps && !s.GaveBack(flight)
	if !steps && !growth.Found {
		return found, false
	}
	room := f.gpu.room(s, f.now)
	var low, near, eta, high float64
	counted := steps && f.counts(flight)
	if steps {
		n, at := flight.Fit(f.now, room)
		few := flight.Steps < stepsSome
		if few && (pid == 0 || f.gpu.near.habits(f.now) >= habitFalls || s.FellSince(flight.Since-flight.Interval) || takesRegions(f.gpu.withPID(pid))) {
			return found, false // those of several programs, a cache filling up again, or a pool: no evidence yet
		}
		sure := growth.Found && !counted && at <= growthSure*(growth.Trend.Until-growth.Trend.Since)
		goesOn := flight.Steps >= stepsMany || !few && flight.Interval < climbSeconds
		due := n == 0 && (!few || f.counts(flight)) || goesOn && at <= stepsAhead*(f.now-flight.Since)
		steps, eta = due || sure, at
		found.last = n == 0 && !few && f.counts(flight)
	}
	if !steps {
		if !growth.Found || s.Rises.Over(f.now) {
			return found, false
		}
		if growth.Trend.Peaks { // they reach the limit, not the level of this moment
			room = min(room, max(0, f.gpu.available(s, f.now)-growth.Trend.To))
		}
		low, near, eta, high = trendLeft(s, growth.Trend, room, f.gpu.total)
		if counted {
			_, eta = flight.Fit(f.now, room)
		}
	}
	found.last = found.last || !steps && room < roomLeast*f.gpu.total
	found.pid, found.level = pid, sampler.LevelWarning
	timed := flight.Interval >= climbSeconds || eta >= climbSeconds // as far as anybody can say
	if !steps {
		timed = !f.gpu.saved() && room >= leastRoom(s)*f.gpu.total
	}
	if !f.gpu.saved() && !f.gpu.overtaken(s) && (steps || timed) {
		if timed {
			found.eta = sampler.Some(math.Round(eta))
		}
		if eta <= growthSoon {
			found.level = sampler.LevelCritical
		}
	}
	trend := growth.Trend
	// The slope through large steps tells nothing: what counts is whether the next one fits.
	large := flight.Steps >= stepsFew && f.counts(flight) && room >= flight.Size && float64(flight.Steps)*flight.Size >= stepsMost*(trend.To-trend.From)
	most := growthNear * f.gpu.total
	switch span := trend.Until - trend.Since; {
	case span >= growthLong:
		most = growthNearLong * f.gpu.total
	case span < growthQuick:
		most = growthNearQuick * f.gpu.total
	}
	most = max(most, min(growthNearQuick*f.gpu.total, growthLead*trend.Slope))
	if steps && f.counts(flight) {
		most = max(stepsNear*f.gpu.total, flight.Size)
	}
	fits, ended := f.ends(growth.Trend, flight, steps, room)
	if ended {
		return found, false
	}
	fits = fits || !steps && f.endsBefore(growth.Trend, low)
	if room > most || fits || !steps && (large || f.noTensors(trend) || near > growthSure*(trend.Until-trend.Since)) {
		found.id, found.level = noticeID, sampler.LevelNotice
	}
	found.render = func(f *Facts) message {
		if steps || counted {
			return renderSteps(f, pid, flight, room, eta, timed)
		}
		rose := "alert.growth.baseline"
		if trend.Peaks {
			rose = "alert.growth.peaks"
		}
		return renderGrowth(f, pid, trend, rose, room, low, high, timed)
	}
	return found, true
}

// regions are settings with which the pools of XLA and TensorFlow take more of the GPU when they need it, region by region, and give none
// back: https://docs.jax.dev/en/latest/gpu_memory_allocation.html, https://www.tensorflow.org/guide/gpu#limiting_gpu_memory_growth
var regions = map[string]string{"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "TF_FORCE_GPU_ALLOW_GROWTH": "true"}

// regional frameworks grow by such regions whatever is set: each is twice as large as the one before, and one that does not fit is tried smaller
// (https://github.com/tensorflow/tensorflow/blob/master/third_party/xla/xla/tsl/framework/bfc_allocator.cc,
// https://onnxruntime.ai/docs/execution-providers/CUDA-ExecutionProvider.html#arena_extend_strategy).
var regional = []string{"tensorflow", "onnxruntime"}

// takesRegions says whether a process has such a pool, whose steps are regions and no leak; nil has none.
func takesRegions(p *proc) bool {
	if p == nil {
		return false
	}
	if slices.Contains(regional, p.process.Framework.Or("")) || p.process.Name == "tensorflow_model_server" {
		return true
	}
	for name, value := range regions {
		if strings.EqualFold(p.process.Environment[name], value) {
			return true
		}
	}
	return false
}

// flightOf are the equal steps by which a holder rises, if it does.
func flightOf(f *Facts, s *series.Series) (flight series.Flight, ok bool) {
	if flight, ok = s.Stairs.Flight(f.now); !ok {
		flight, ok = s.Records.Flight(f.now, f.gpu.total, s.Settled(f.now))
		ok = ok && flight.Since >= s.Born()+recordsBegin
	}
	if !ok && !s.FellSince(s.Born()+recordsBegin) { // who has given back most before takes and leaves what it needs, as who loads models
		flight, ok = s.Stairs.Pair(f.now, f.gpu.total)
	}
	return flight, ok && !knownClimb(f, s, flight) && (s != &f.gpu.rest || !f.gpu.listed) // what is of no process may be a list that came late
}

// smallBesideLarge says whether a leak of small tensors goes on beside large ones, which come and go on a busy GPU.
func smallBesideLarge(s *series.Series) bool { return s.Working && s.Pieces.Small() }

// leastRoom is the share of the GPU that must be left for the end of a growth to be seen.
func leastRoom(s *series.Series) float64 {
	if smallBesideLarge(s) {
		return roomLeastSmall
	}
	return roomLeast
}

// trendLeft is how long a trend goes on with that much room: until a holder is near its end, likely until a request
// fails, and a range of that; all in seconds. Its allocator gives back what it can before.
func trendLeft(s *series.Series, tr series.Trend, room, limit float64) (low, near, likely, high float64) {
	back := min(growthBack*limit, room*growthBackMost)
	low, _, _ = tr.ETA(room)
	_, near, high = tr.ETA(room + back)
	if !smallBesideLarge(s) {
		return low, near, near, high
	}
	_, likely, _ = tr.ETA(room + min(growthBackSmall*limit, room*growthBackSmallMost))
	_, _, high = tr.ETA(room + growthBackSmall*limit)
	return low, near, likely, high
}

// counts says whether steps are so large that their number and interval tell the time left, and no slope through them.
func (f *Facts) counts(flight series.Flight) bool { return flight.Size >= stepsLarge*f.gpu.total }

// ends says whether the log announces where the growth ends, and that it fits; ended: that it does now.
func (f *Facts) ends(tr series.Trend, flight series.Flight, steps bool, room float64) (fits, ended bool) {
	since, rise, n := tr.Since, tr.To-tr.From, 0
	if steps {
		since, rise, n = flight.Since, float64(flight.Steps)*flight.Size, flight.Steps
	}
	more, known := f.stages.rest(since, rise, n)
	return known && more <= room, known && more == 0
}

// endsBefore says whether the last of the parts that the log counts begins before a steady growth takes what is left, in so many seconds: a part stands
// on what those before it have left.
func (f *Facts) endsBefore(tr series.Trend, left float64) bool {
	last, known := f.stages.lastBegins(tr.Since)
	return known && last <= f.now+left
}

// noTensors says whether the log shows that tensors did not grow with the memory.
func (f *Facts) noTensors(tr series.Trend) bool {
	rise, known := f.tensors.rise(tr.Since, f.now)
	return known && rise < tensorsShare*(tr.To-tr.From)
}

// knownClimb says whether fast steps are those of a spike that has not come higher than
// others that came back, or of parts that are taken again after all was given back: the last of them is hardly higher than before.
func knownClimb(f *Facts, s *series.Series, flight series.Flight) bool {
	if flight.Interval >= climbSeconds {
		return false
	}
	pt, ok := s.Pattern(f.now, f.gpu.total)
	return ok && s.Value <= pt.Most*(1+climbMargin) || s.Value <= s.Records.Before(flight.Since-flight.Interval)+flight.Size/2
}

// renderGrowth tells when the memory runs out where that is known: timed.
func renderGrowth(f *Facts, pid int, tr series.Trend, rose string, room, low, high float64, timed bool) message {
	g, words := f.gpu, f.words
	line := words.Say(rose, "from", size(tr.From), "to", size(tr.To), "span", words.Span(tr.Until-tr.Since), "ago", words.Span(f.now-tr.Since))
	p := g.withPID(pid)
	evidence := []string{line, words.Say("alert.growth.room", "free", sizeFree(room))}
	if early, late := size(tr.Early*60), size(tr.Late*60); early != late && math.Abs(tr.Early-tr.Late) > alikeHalves*max(tr.Early, tr.Late) {
		evidence = slices.Insert(evidence, 1, words.Say("alert.growth.halves", "early", early, "late", late))
	}
	if p != nil {
		if beside, whose := g.besidePeaks(&p.series, f.now); beside <= room {
			evidence = append(evidence, words.Say("alert.neighbor.peak", "process", f.pid(whose), "peak", size(whose.peak.most().value), "now", size(whose.series.Value)))
		}
	}
	m := message{
		text:     words.Say("alert.growth.untimed", "gpu", g.last.Label(), "process", holder(f, p), "rate", size(tr.Slope*60), "free", sizeFree(room)),
		evidence: evidence,
		numbers: map[string]float64{"rate_bytes_per_second": tr.Slope * float64(sampler.MiB), "since_s": tr.Since,
			"free_bytes": bytesOf(room), "rise_bytes": bytesOf(tr.To - tr.From)},
		advice: hypothetical{gpu: g, proc: p, free: room, phase: sampler.PhaseTraining, causes: certain(explain.CauseLeak)}.fixes(words),
	}
	if timed {
		m.text = words.Say("alert.growth", "gpu", g.last.Label(), "process", holder(f, p), "rate", size(tr.Slope*60), "eta", words.Spans(low, high))
		m.numbers["eta_low_s"], m.numbers["eta_high_s"] = math.Round(low), math.Round(high)
	}
	return m
}

// alikeHalves: rates that differ by less are one rate, which the alert tells.
const alikeHalves = 0.1

func renderSteps(f *Facts, pid int, s series.Flight, room, eta float64, timed bool) message {
	g, words := f.gpu, f.words
	p := g.withPID(pid)
	text, every, step, cause := "alert.steps", "alert.steps.every", s.Size, explain.CauseLeak
	numbers := map[string]float64{"steps": float64(s.Steps), "step_bytes": bytesOf(s.Size), "interval_s": s.Interval, "since_s": s.Since,
		"free_bytes": bytesOf(room)}
	if s.Swell > 0 {
		text, every, step, cause = "alert.steps.swell", "alert.steps.swell.every", s.Newest, explain.CauseDataSpike
		numbers[explain.Swell] = s.Swell
	}
	which := words.Say("alert.steps.next")
	if timed {
		which = words.Say("alert.steps.in", "eta", words.Span(eta))
	}
	said := []any{"gpu", g.last.Label(), "process", holder(f, p), "n", s.Steps, "size", size(step), "which", which,
		"span", words.Span(s.Interval), "times", fmt.Sprintf("%.1f", s.Swell)}
	return message{
		text:     words.Say(text, said...),
		evidence: []string{words.Say(every, said...), words.Say("alert.growth.room", "free", sizeFree(room))},
		numbers:  numbers,
		advice:   hypothetical{gpu: g, proc: p, free: room, need: s.Size, phase: sampler.PhaseTraining, causes: certain(cause)}.fixes(words),
	}
}
