package watch

import (
	"slices"
	"sort"
	"strconv"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

// NeedSource says how a need is known.
type NeedSource string

// The sources of a need, the most trusted first.
const (
	NeedTyped   NeedSource = "typed"        // --need or the key n
	NeedRefused NeedSource = "refused"      // the last request that an allocator was refused
	NeedAsked   NeedSource = "asked"        // the largest request of late that the driver saw
	NeedJump    NeedSource = "largest_jump" // the most this process took at once, gave back, and so will ask for again
)

// String is the source in English; alerts and the screen say it from the catalog by its id.
func (s NeedSource) String() string { return s.In(lang.English()) }

// In is the source in the words of a language.
func (s NeedSource) In(words lang.Catalog) string { return words.Say("need." + string(s)) }

// Need is memory that will be asked for in one go.
type Need struct {
	Bytes  sampler.Bytes
	Source NeedSource
	GPU    sampler.Opt[int] // index; absent: any GPU
	PID    sampler.Opt[int] // who will ask; absent: not known
	Again  bool             // asked: it comes again, and what was granted was given back
}

// HolderKind says what a part of used memory is to the one who needs memory.
type HolderKind string

// Kinds of Holder.
const (
	HolderOwn          HolderKind = "own"          // the process the need belongs to
	HolderOther        HolderKind = "other"        // another process
	HolderUnattributed HolderKind = "unattributed" // used, but by no process the driver names
)

// Holder is one part of the used memory of a GPU. Names are as the system gave
// them: clean them before they reach a terminal.
type Holder struct {
	Kind  HolderKind
	PID   int // 0 for unattributed memory
	User  string
	Name  string
	Bytes sampler.Bytes // at the newest snapshot
	Most  sampler.Bytes // within the window of a Checker; 0 from anybody else
}

// Fit is the arithmetic of a need against the free memory of one GPU.
type Fit struct {
	GPU       int          // index
	UUID      string       // of the GPU or MIG instance; empty when not known
	Label     string       // "0"; of a MIG instance "0:1"
	MIG       bool         // it is an instance
	Instance  *sampler.MIG // which one
	shared    string       // the memory that it shares with other compute instances of its GPU instance; empty: its own
	Unsplit   bool         // in MIG mode without instances: nothing fits
	Need      sampler.Opt[Need]
	Total     sampler.Opt[sampler.Bytes]
	Free      sampler.Opt[sampler.Bytes] // at the newest snapshot
	WorstFree sampler.Opt[sampler.Bytes] // least free in the last minute (Fits: in the snapshot's window); for a jump, between jumps
	Reusable  sampler.Opt[sampler.Bytes] // free inside the allocator of the process that needs, when it reports it
	Short     sampler.Bytes              // what is missing against WorstFree and Reusable; 0 when it fits or is unknown
	Holders   []Holder                   // largest first, at the newest snapshot
}

// Fits says whether the need fits, and whether that is known at all.
func (f Fit) Fits() (fits, known bool) {
	return f.Short == 0 && !f.Unsplit, f.Unsplit || f.WorstFree.Known() && f.Need.Known()
}

// Near is the part of a need on top of it at which free memory counts as near the
// need: the screen turns the panel on there, before it is short.
const Near = 0.10

// Near says whether the free memory is short of the need or within a tenth above it. A
// jump that has fitted before is near only when it is short.
func (f Fit) Near() bool {
	need, ok := f.Need.Value()
	worst, known := f.WorstFree.Value()
	if need.Source == NeedJump {
		return f.Short > 0
	}
	return ok && known && need.Bytes > 0 &&
		float64(worst)+float64(f.Reusable.Or(0)) < float64(need.Bytes)*(1+Near)
}

// Fits compares a need with one GPU as one snapshot shows it: free now, the lowest
// free of the snapshot's own window, and the least since the monitor began. The need
// is that of a newcomer, so no holder is its own and nothing can be reused.
func Fits(gpu sampler.GPU, need sampler.Bytes) Fit {
	f := Fit{
		GPU:      gpu.Index,
		UUID:     gpu.UUID,
		Label:    gpu.Label(),
		MIG:      gpu.MIG != nil,
		Instance: gpu.MIG,
		shared:   sharedMemory(gpu),
		Unsplit:  gpu.Unsplit,
		Need:     sampler.Some(Need{Bytes: need, Source: NeedTyped, GPU: sampler.Some(gpu.Index)}),
		Total:    gpu.Memory.PlausibleTotal(),
		Free:     gpu.Memory.PlausibleFree(),
		Holders:  Holders(gpu, sampler.Opt[int]{}),
	}
	f.WorstFree = worstOfWindow(gpu.Memory)
	f.Short = short(need, f.WorstFree, 0)
	return f
}

// sharedMemory names the GPU instance whose memory its compute instances share.
func sharedMemory(gpu sampler.GPU) string {
	if gpu.MIG == nil {
		return ""
	}
	return gpu.Host + " " + gpu.MIG.ParentUUID + " " + strconv.Itoa(gpu.MIG.GPUInstance)
}

// together leaves out, in order, what cannot have the need beside those before it: of compute instances that share the
// memory of a GPU instance, as many stay as the need fits into it.
func together(list []Fit) []Fit {
	taken := map[string]sampler.Bytes{}
	return slices.DeleteFunc(list, func(f Fit) bool {
		if f.shared == "" {
			return false
		}
		need, _ := f.Need.Value()
		if f.WorstFree.Or(0) < taken[f.shared]+need.Bytes {
			return true
		}
		taken[f.shared] += need.Bytes
		return false
	})
}

// InTheWay lists who would have to go for the need to fit: the smallest holder that is
// enough alone, else the largest ones until it is. It is empty when the need fits or is
// unknown, and when it would not fit on the empty GPU.
func (f Fit) InTheWay() []Holder {
	need, ok := f.Need.Value()
	if f.Short == 0 || !ok || need.Bytes > f.Total.Or(0) {
		return nil
	}
	var alone, together []Holder
	var sum sampler.Bytes
	for _, h := range f.Holders { // largest first
		if h.Kind == HolderOwn {
			continue
		}
		if h.Bytes >= f.Short {
			alone = []Holder{h}
		}
		if sum < f.Short {
			together, sum = append(together, h), sum+h.Bytes
		}
	}
	switch {
	case alone != nil:
		return alone
	case sum >= f.Short:
		return together
	}
	return nil
}

// short is what is missing of need; 0 when the free memory is unknown.
func short(need sampler.Bytes, free sampler.Opt[sampler.Bytes], reusable sampler.Bytes) sampler.Bytes {
	f, ok := free.Value()
	if !ok {
		return 0
	}
	return need.Less(f).Less(reusable)
}

// Holders lists who has the used memory, the largest first. Processes whose memory
// the driver hides are left out: their share shows as unattributed.
func Holders(gpu sampler.GPU, own sampler.Opt[int]) []Holder {
	list := make([]Holder, 0, len(gpu.Processes)+1)
	for i := range gpu.Processes {
		p := &gpu.Processes[i]
		m, ok := sampler.Plausible(p.Memory)
		if !ok || m == 0 {
			continue
		}
		kind := HolderOther
		if pid, ok := own.Value(); ok && pid == p.PID {
			kind = HolderOwn
		}
		list = append(list, Holder{Kind: kind, PID: p.PID, User: p.User, Name: p.Name, Bytes: m})
	}
	if u, ok := gpu.PlausibleUnattributed(); ok && u > 0 {
		list = append(list, Holder{Kind: HolderUnattributed, Bytes: u})
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].Bytes > list[j].Bytes })
	return list
}

// worstOfWindow is the least free of the snapshot's own window of fast readings.
func worstOfWindow(m sampler.Memory) sampler.Opt[sampler.Bytes] {
	f, ok := m.PlausibleFree().Value()
	if !ok {
		return sampler.Opt[sampler.Bytes]{}
	}
	if u, known := m.PlausibleUsed().Value(); known && m.Window != nil && m.Window.Max < sampler.MaxPlausible {
		f = f.Less(m.Window.Max.Less(u)) // what the window's largest reading had on top of the newest
	}
	return sampler.Some(f)
}

// least is the smaller of two values; an unknown one does not count.
func least(a, b sampler.Opt[sampler.Bytes]) sampler.Opt[sampler.Bytes] {
	x, ok := a.Value()
	y, known := b.Value()
	switch {
	case ok && known:
		return sampler.Some(min(x, y))
	case ok:
		return a
	}
	return b
}
