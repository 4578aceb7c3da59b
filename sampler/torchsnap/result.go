package torchsnap

import (
	"cmp"
	"maps"
	"slices"

	"nvpeak/sampler"
)

const (
	holdersMost = 20
	linesMost   = 24
	keepersMost = 4
)

// result is the snapshot in words.
func (f *fold) result() sampler.TorchSnapshot {
	s := sampler.TorchSnapshot{Frames: f.framed, Conf: sampler.Clean(f.conf), Devices: []sampler.TorchDevice{}}
	for _, n := range slices.Sorted(maps.Keys(f.devices)) {
		d := f.devices[n]
		one := sampler.TorchDevice{Device: n, Segments: d.segments, Blocks: d.blocks, Reserved: sampler.Bytes(d.reserved),
			Allocated: sampler.Bytes(d.allocated), Requested: sampler.Bytes(d.requested), Awaiting: sampler.Bytes(d.awaiting),
			Cached: sampler.Bytes(d.cached), Split: sampler.Bytes(d.split), LargestFree: sampler.Bytes(d.largest), PrivateFree: sampler.Bytes(d.privateFree),
			Holders: f.holders(d.holders), Pins: f.holders(d.pins), Cut: f.cut}
		if d.trace != nil {
			one.Trace = f.trace(d)
		}
		s.Devices = append(s.Devices, one)
	}
	return s
}

func (f *fold) holders(of map[int]*held) []sampler.TorchHolder {
	list := []sampler.TorchHolder{}
	for _, site := range slices.Sorted(maps.Keys(of)) {
		if h := of[site]; h.bytes > 0 {
			list = append(list, sampler.TorchHolder{TorchSite: f.frames.named(site), Bytes: sampler.Bytes(h.bytes), Blocks: h.blocks})
		}
	}
	slices.SortStableFunc(list, func(a, b sampler.TorchHolder) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return list[:min(len(list), holdersMost)]
}

func (f *fold) trace(d *device) *sampler.TorchTrace {
	t := d.trace
	now := t.judged
	if now == nil {
		now = t.moment(t.last)
	}
	before := t.before(d, f.cut)
	out := &sampler.TorchTrace{Events: t.events, Seconds: seconds(t.first, t.last), OOMs: t.ooms, Steps: now.steps(), Live: amount(now.live + before),
		Last: []sampler.TorchEvent{}, Curve: []sampler.TorchPoint{}, Lines: f.lines(t, now)}
	for _, e := range now.recent {
		out.Last = append(out.Last, sampler.TorchEvent{T: seconds(t.first, e.time), Action: sampler.Clean(e.action), Bytes: amount(e.size),
			Site: f.frames.named(f.frames.siteOfValue(e.stack))})
	}
	for _, p := range t.curve.points {
		high := amount(p.high + before)
		out.Peak = max(out.Peak, high)
		out.Curve = append(out.Curve, sampler.TorchPoint{T: seconds(t.first, p.time), Low: amount(p.low + before), High: high})
	}
	if t.judged != nil {
		out.OOM = &sampler.TorchOOM{T: seconds(t.first, now.time), Requested: amount(now.refused), Reserved: amount(d.reserved - t.reserved + now.reserved),
			Usual: amount(now.requests.largest), Requests: now.requests.count, Site: f.frames.named(f.frames.siteOfValue(now.stack)), Stack: f.frames.stackNamed(now.stack)}
		if now.free >= 0 {
			out.OOM.Free = sampler.Some(amount(now.free))
		}
	}
	return out
}

// before is what was allocated before the history began: what the segments hold in the end less what the
// history added, and at least so much that nothing goes below 0.
func (t *trace) before(d *device, cut bool) int64 {
	least := int64(0)
	for _, p := range t.curve.points {
		least = min(least, p.low)
	}
	if cut { // the history may end long before the segments were listed
		return -least
	}
	return max(d.allocated-t.live, -least)
}

// lines are those that hold most, or grow, or rose unusually, up to a moment.
func (f *fold) lines(t *trace, now *moment) []sampler.TorchLine {
	list, p := []sampler.TorchLine{}, now.pace()
	for _, site := range slices.Sorted(maps.Keys(now.lines)) {
		line := now.lines[site]
		if line.live <= 0 && line.rise == 0 {
			continue
		}
		line.levels = t.lines[site].levels
		grown, steps := t.growth(line, site > 0, f.frames.generation(site), now, p)
		list = append(list, sampler.TorchLine{TorchSite: f.frames.named(site), Caller: f.caller(site, &line, p), Live: amount(line.live), Blocks: line.blocks,
			Grown: amount(grown), Steps: steps, Rise: amount(t.rise(line, now, p)), Usual: amount(line.rise), Cycles: line.cycles,
			Largest: amount(max(line.largest, usualRequest(line))), Requests: line.requests})
	}
	slices.SortStableFunc(list, func(a, b sampler.TorchLine) int { return cmp.Compare(max(b.Live, b.Usual), max(a.Live, a.Usual)) })
	rest := list[min(len(list), linesMost):]
	list = list[:len(list)-len(rest)]
	for _, l := range rest {
		if l.Grown > 0 && !l.Module && !l.Optimizer && len(list) < linesMost+keepersMost {
			list = append(list, l) // small, and may be what keeps the others
		}
	}
	return list
}

// rise is how far a line is above where it was last low, in this step.
func (t *trace) rise(line tracker, now *moment, p pace) int64 {
	low := line.valley
	if p.passed(&line, now.events) {
		for i, point := range t.curve.points[:min(len(line.levels), len(t.curve.points))] {
			if point.to <= now.events && p.between(point.to, now.events) >= 1 {
				low = line.levels[i] // the end of a step before
			}
		}
	}
	return line.live - low
}

// stepsKnown must have ended before a line of the model counts as new.
const stepsKnown = 3

// caller is the line from which a rise came and none before it, in words. A line that had not run in any step is its own.
func (f *fold) caller(site int, line *tracker, p pace) string {
	s := f.frames.named(site)
	if line.cycles > 0 || !line.ran || p.steps+1 < stepsKnown || line.born < p.last || s.File == "" || trainingName.Get().MatchString(s.Function) {
		return f.frames.caller(line)
	}
	return s.Place() + " " + s.Function
}

// caller is the line from which all of a rise came and none before it, in words.
func (t *frameTable) caller(line *tracker) string {
	way := line.newWay()
	if way == 0 {
		return ""
	}
	fork := t.fork(way, line.ways)
	if fork == 0 {
		return ""
	}
	f := t.frameNamed(fork)
	if 4*line.now > 5*line.largest && trainingName.Get().MatchString(f.Function) {
		return "" // another part of the training, with larger inputs
	}
	return f.Place() + " " + f.Function
}

// usualRequest is the largest request of a line that never fell: all are of one rise.
func usualRequest(line tracker) int64 {
	if line.cycles > 0 {
		return 0
	}
	return line.now
}

func seconds(from, to int64) float64 { return float64(max(0, to-from)) / 1e6 }

func amount(n int64) sampler.Bytes { return sampler.Bytes(max(0, n)) }
