package explain

import (
	"strings"
	"testing"

	"nvpeak/sampler"
	"nvpeak/sampler/oomlog"
)

// Each rule of arithmetic at both sides of its bound, on a GPU of 16000 MiB. The words to the user follow from these.
func TestArithmeticBounds(t *testing.T) {
	type event = sampler.OOMEvent
	figures := func(requested, free, allocated, unallocated float64) func(*Incident, *event) {
		return func(_ *Incident, e *event) {
			e.Requested, e.GPUFree, e.Allocated, e.ReservedUnallocated = mibs(requested), mibs(free), mibs(allocated), mibs(unallocated)
			e.ProcessInUse = mibs(allocated + unallocated)
		}
	}
	limited := func(allowed float64, allocated, unallocated float64) func(*Incident, *event) {
		return func(in *Incident, e *event) {
			figures(300, 5000, allocated, unallocated)(in, e)
			e.MemoryLimit = &sampler.MemoryLimit{Kind: "fraction", Allowed: mibs(allowed)}
		}
	}
	nothing := func(*Incident, *event) {}
	elsewhere := func(size float64) func(f *failure) bool {
		return func(f *failure) bool {
			f.elsewhere, f.ownInside = mibs(size), false
			return f.othersMatter()
		}
	}
	leap := func(now float64, peaks ...float64) func(*Incident, *event) {
		return func(in *Incident, e *event) { in.History = &History{Process: mibs(now), Peaks: amounts(peaks...)} }
	}
	host := func(grown, lost float64) func(*Incident, *event) {
		return func(in *Incident, e *event) { in.History = &History{HostGrown: mibs(grown), HostLost: mibs(lost)} }
	}
	for name, row := range map[string]struct {
		change func(*Incident, *event)
		is     func(*failure) bool
		want   bool
	}{
		"4 % are asked for":                   {figures(640, 200, 8000, 0), func(f *failure) bool { return f.wideRequest() }, false},
		"more":                                {figures(641, 200, 8000, 0), func(f *failure) bool { return f.wideRequest() }, true},
		"a twentieth is free":                 {figures(300, 800, 8000, 0), func(f *failure) bool { return f.cardFull() }, false},
		"less":                                {figures(300, 799, 8000, 0), func(f *failure) bool { return f.cardFull() }, true},
		"packed it just fits":                 {figures(300, 200, 8000, 100), func(f *failure) bool { return f.fitsAfterReuse() }, true},
		"packed it just does not":             {figures(300, 200, 8000, 99), func(f *failure) bool { return f.fitsAfterReuse() }, false},
		"as much was free":                    {figures(200, 200, 8000, 100), func(f *failure) bool { return f.fitsAfterReuse() }, false},
		"as much as the GPU is allocated":     {figures(300, 200, 16000, 0), func(f *failure) bool { return f.oversubscribed() }, false},
		"more than the GPU is allocated":      {figures(300, 200, 16001, 0), func(f *failure) bool { return f.oversubscribed() }, true},
		"nine tenths of what was free":        {figures(900, 1000, 8000, 0), func(f *failure) bool { return f.refusedThoughFree() }, false},
		"less than nine tenths":               {figures(899, 1000, 8000, 0), func(f *failure) bool { return f.refusedThoughFree() }, true},
		"half of the GPU would be passed":     {figures(10, 8000, 7990, 0), func(f *failure) bool { return f.roundShare() }, true},
		"half would not be reached":           {figures(9, 8000, 7990, 0), func(f *failure) bool { return f.roundShare() }, false},
		"half was there already":              {figures(10, 8000, 8000, 0), func(f *failure) bool { return f.roundShare() }, false},
		"all would be reached":                {figures(10, 8000, 15990, 0), func(f *failure) bool { return f.roundShare() }, false},
		"a limit of nearly all":               {limited(15761, 15000, 0), func(f *failure) bool { return f.limited() }, false},
		"a limit of less":                     {limited(15760, 15000, 0), func(f *failure) bool { return f.limited() }, true},
		"nine tenths of the limit":            {limited(10000, 8600, 100), func(f *failure) bool { return f.limited() }, false},
		"more than nine tenths":               {limited(10000, 8600, 101), func(f *failure) bool { return f.limited() }, true},
		"another with 1 GiB":                  {nothing, elsewhere(1024), false},
		"another with more":                   {nothing, elsewhere(1025), true},
		"8 % above all peaks":                 {leap(2280, 1000, 900, 800), func(f *failure) bool { return f.leapt() }, false},
		"more above":                          {leap(2281, 1000, 900, 800), func(f *failure) bool { return f.leapt() }, true},
		"more above two":                      {leap(2281, 1000, 900), func(f *failure) bool { return f.leapt() }, false},
		"the host's memory grew by 1 GiB":     {host(1024, 1024), func(f *failure) bool { return f.hostGrew() }, false},
		"by more":                             {host(1025, 1024), func(f *failure) bool { return f.hostGrew() }, true},
		"by half of what the machine lost":    {host(2000, 4000), func(f *failure) bool { return f.hostGrew() }, false},
		"by more than half of that":           {host(2001, 4000), func(f *failure) bool { return f.hostGrew() }, true},
		"ten levels that do not rise":         {leap(0, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5), func(f *failure) bool { return f.levelledOff() }, true},
		"nine":                                {leap(0, 5, 5, 5, 5, 5, 5, 5, 5, 5), func(f *failure) bool { return f.levelledOff() }, false},
		"neither allocated nor used is known": {func(_ *Incident, e *event) { e.Requested, e.GPUFree = mibs(300), mibs(299) }, func(f *failure) bool { return f.noSplit() }, true},
		"nothing was missing":                 {func(_ *Incident, e *event) { e.Requested, e.GPUFree = mibs(300), mibs(300) }, func(f *failure) bool { return f.noSplit() }, false},
	} {
		if got := row.is(onCard(row.change)); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for part, want := range map[sampler.Bytes]string{0: "0 %", 49: "5 %", 990: "99 %", 991: "99.1 %", 999: "99.9 %", 1000: "100 %", 1010: "101 %"} {
		if got := percentOf(part, 1000); got != want {
			t.Errorf("%d of 1000: %s, want %s", part, got, want)
		}
	}
	if got := percentOf(5, 0); got != "0 %" {
		t.Errorf("of nothing: %s", got)
	}
	for n, want := range map[uint64]string{7: "7", 999: "999", 1000: "1,000", 82190602: "82,190,602"} {
		if got := grouped(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}

// The line that leaks: a share of all, or much in itself, or slowly and enough for the request.
func TestLeakBounds(t *testing.T) {
	const mib = sampler.MiB
	for name, row := range map[string]struct {
		grown, live sampler.Bytes
		steps       int
		requested   float64
		want        bool
	}{
		"a share of all":                     {100*mib + 1, 100 * mib * leakShare, 40, 300, true},
		"no larger share":                    {100 * mib, 100 * mib * leakShare, 40, 10000, false},
		"1 GiB":                              {sampler.GiB, 100 * sampler.GiB, 40, 10000, true},
		"less":                               {sampler.GiB - 1, 100 * sampler.GiB, 40, 10000, false},
		"slowly, and it is what was missing": {slowLeast, 100 * sampler.GiB, slowSteps, 200 + slowLeast.MiB(), true}, // 200 MiB were free
		"slowly, and less than was missing":  {slowLeast, 100 * sampler.GiB, slowSteps, 201 + slowLeast.MiB(), false},
		"in fewer steps":                     {slowLeast, 100 * sampler.GiB, slowSteps - 1, 208, false},
		"by less":                            {slowLeast - 1, 100 * sampler.GiB, slowSteps, 207, false},
	} {
		f := onCard(func(_ *Incident, e *sampler.OOMEvent) { e.Requested = mibs(row.requested) })
		f.snapshot = &sampler.TorchDevice{Allocated: row.live, Trace: &sampler.TorchTrace{Steps: row.steps,
			Lines: []sampler.TorchLine{{TorchSite: sampler.TorchSite{File: "t.py", Line: 3}, Grown: row.grown, Live: row.grown}}}}
		if _, ok := f.leaking(); ok != row.want {
			t.Errorf("%s: leaks %v", name, ok)
		}
	}
}

// Who held memory at the moment that is judged: by the blocks that are live in the end, unless some were freed since.
func TestHoldersOfTheMoment(t *testing.T) {
	for name, row := range map[string]struct {
		change func(d *sampler.TorchDevice)
		blocks bool
	}{
		"at a refusal, all is there":   {func(*sampler.TorchDevice) {}, true},
		"some was freed since":         {func(d *sampler.TorchDevice) { d.Trace.Live = 101 }, false},
		"nothing was refused":          {func(d *sampler.TorchDevice) { d.Trace.Live, d.Trace.OOM = 101, nil }, true},
		"without a history":            {func(d *sampler.TorchDevice) { d.Trace = nil }, true},
		"without a list of the blocks": {func(d *sampler.TorchDevice) { d.Reserved = 0 }, false},
	} {
		f := onCard(func(*Incident, *sampler.OOMEvent) {})
		f.snapshot = &sampler.TorchDevice{Reserved: 200, Allocated: 100, Holders: []sampler.TorchHolder{{Bytes: 7}},
			Trace: &sampler.TorchTrace{Live: 100, OOM: &sampler.TorchOOM{}, Lines: []sampler.TorchLine{{Live: 5}}}}
		row.change(f.snapshot)
		list := f.holders()
		if len(list) != 1 || (list[0].Bytes == 7) != row.blocks {
			t.Errorf("%s: %+v", name, list)
		}
	}
}

// A rank is ahead of those on other GPUs from the start, or it has drifted from them step by step; a jump is neither. An
// eighth of the GPU, and 2 GiB, are the least of it.
func TestPeerBounds(t *testing.T) {
	for name, row := range map[string]struct {
		peers, peerPeaks, peaks []float64
		ahead, drifts           float64
	}{
		"ahead by an eighth":   {[]float64{4000, 5000}, nil, []float64{7048, 7048, 7048}, 2048, 0},
		"by less":              {[]float64{4000, 5000}, nil, []float64{7047, 7047, 7047}, 0, 0},
		"not from the start":   {[]float64{4000, 5000}, nil, []float64{5000, 9000, 9000}, 0, 0},
		"peers hold nothing":   {[]float64{0, 0}, nil, []float64{9000, 9000}, 0, 0},
		"drifted by an eighth": {nil, []float64{5000, 4000}, []float64{6600, 6700, 6800, 6900, 7048}, 0, 2048},
		"by less in the end":   {nil, []float64{5000, 4000}, []float64{6600, 6700, 6800, 6900, 7047}, 0, 0},
		"in fewer steps":       {nil, []float64{5000, 4000}, []float64{6700, 6800, 6900, 7048}, 0, 0},
		"by steps of nothing":  {nil, []float64{5000, 4000}, []float64{6688, 6768, 6848, 6928, 7008, 7088}, 0, 0}, // a 200th
		"anew after a fall":    {nil, []float64{5000, 4000}, []float64{7100, 7100, 5000, 6600, 6700, 6800, 7048}, 0, 2048},
		"in fewer steps since": {nil, []float64{5000, 4000}, []float64{7100, 7100, 5000, 6700, 6800, 7048}, 0, 0},
		"up, and then down":    {nil, []float64{5000, 4000}, []float64{6600, 6700, 6800, 6900, 7048, 5000}, 0, 2048},
		"nobody else had any":  {nil, []float64{0}, []float64{6600, 6700, 6800, 6900, 7048}, 0, 0},
	} {
		f := onCard(func(in *Incident, e *sampler.OOMEvent) {
			e.GPUTotal = mibs(16000)
			in.History = &History{Peers: amounts(row.peers...), PeerPeaks: amounts(row.peerPeaks...), Peaks: amounts(row.peaks...)}
		})
		if ahead, drifts := f.aheadOfPeers(), f.driftsFromPeers(); ahead != mibs(row.ahead).Or(0) || drifts != mibs(row.drifts).Or(0) {
			t.Errorf("%s: %s ahead, drifted by %s; want %v and %v MiB", name, ahead, drifts, row.ahead, row.drifts)
		}
	}
}

// A rank that keeps the same each time, and others do not, leaks; one that comes to hold more unevenly, or asks for much, has more to do.
func TestRankThatKeeps(t *testing.T) {
	for name, row := range map[string]struct {
		peaks   []float64
		request float64
		want    bool
	}{
		"even steps":        {[]float64{6000, 6500, 7000, 7500, 8000, 8500}, 500, true},
		"uneven":            {[]float64{6000, 6500, 7200, 7600, 8300, 8500}, 500, false},
		"four":              {[]float64{6500, 7000, 7500, 8000, 8500}, 500, false},
		"asks for much":     {[]float64{6000, 6500, 7000, 7500, 8000, 8500}, 900, false},
		"no further ahead":  {[]float64{6000, 6100, 6200, 6300, 6400, 6500}, 100, false},
		"was given back":    {[]float64{6000, 6500, 7000, 6000, 8000, 8500}, 500, false},
		"levels off by far": {[]float64{6000, 6500, 7000, 7500, 8000, 8500, 8500, 8500, 8500, 8500, 8500, 8500, 8500, 8500}, 500, false},
	} {
		f := onCard(func(in *Incident, e *sampler.OOMEvent) {
			e.GPUTotal, e.Requested, e.GPUIndex = mibs(16000), mibs(row.request), sampler.Some(2)
			in.History = &History{Peers: amounts(5500, 5500), PeerPeaks: amounts(5500, 5500), Peaks: amounts(row.peaks...)}
		})
		if got := f.keepsAlone(); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
		if sure := f.unlessKept(0.9); (sure < 0.9) != row.want {
			t.Errorf("%s: sure by %v", name, sure)
		}
	}
}

// What is computed again saves none of one tensor that is several times all that is held, so no figure is said.
func TestOneTensorHasNoSaving(t *testing.T) {
	for message, saves := range map[string]bool{
		"Tried to allocate 6.96 GiB (GPU 0; 7.80 GiB total capacity; 721.23 MiB already allocated; 6.05 GiB free; 792.00 MiB reserved in total by PyTorch)": false,
		"Tried to allocate 4.80 GiB (GPU 0; 7.80 GiB total capacity; 2.40 GiB already allocated; 4.25 GiB free; 2.50 GiB reserved in total by PyTorch)":     true,
	} {
		events, err := oomlog.Scan(strings.NewReader("RuntimeError: CUDA out of memory. " + message + "\n"))
		if err != nil || len(events) != 1 {
			t.Fatal(events, err)
		}
		for _, a := range Explain(Incident{Events: events}).Advice {
			if a.ID == FixGradientCheckpointing && a.Saves.Known() != saves {
				t.Errorf("%q: %v", message, a.Saves)
			}
		}
	}
}

// Who works on a GPU, and is refused an amount that nobody tells while half of it or more has been free all along, has asked for more than that.
func TestRoomBeside(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*Incident, *sampler.OOMEvent)
		want   float64
	}{
		"half is free": {func(in *Incident, _ *sampler.OOMEvent) { in.History.Peaks = amounts(300, 8000) }, 8000},
		"less is":      {func(in *Incident, _ *sampler.OOMEvent) { in.History.Peaks = amounts(8001, 300) }, 0},
		"others hold some": {func(in *Incident, _ *sampler.OOMEvent) {
			in.History.Others = []Neighbor{{PID: 8, Bytes: 7000 * sampler.MiB}}
		}, 8000},
		"and more": {func(in *Incident, _ *sampler.OOMEvent) {
			in.History.Others = []Neighbor{{PID: 8, Bytes: 7001 * sampler.MiB}}
		}, 0},
		"it had no context":      {func(in *Incident, _ *sampler.OOMEvent) { in.History.Peaks = amounts(149) }, 0},
		"the amount is told":     {func(_ *Incident, e *sampler.OOMEvent) { e.Requested = mibs(300) }, 0},
		"it may be another":      {func(in *Incident, _ *sampler.OOMEvent) { in.History.Mixed = true }, 0},
		"nothing was recorded":   {func(in *Incident, _ *sampler.OOMEvent) { in.History = nil }, 0},
		"nobody holds the rest?": {func(in *Incident, _ *sampler.OOMEvent) { in.History.Unattributed = mibs(7001) }, 0},
	} {
		f := onCard(func(in *Incident, e *sampler.OOMEvent) {
			e.Text, e.GPUTotal, e.Requested, e.GPUFree = "CUDA out of memory", mibs(16000), sampler.Opt[sampler.Bytes]{}, sampler.Opt[sampler.Bytes]{}
			in.History = &History{Peaks: amounts(500, 1000)}
			row.change(in, e)
		})
		if got := f.roomBeside(); got != mibs(row.want).Or(0) {
			t.Errorf("%s: %s, want %v MiB", name, got, row.want)
		}
	}
}
