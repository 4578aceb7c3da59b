package explain

import (
	"strconv"
	"strings"

	"nvpeak/sampler"
)

// causesHost is R10: the kernel, a container limit or a watchdog took the process for its host
// memory. Nothing about the GPU is said then.
var causesHost = []causeRow{
	{id: "R10", cause: CauseHostMemory, reason: "https://docs.kernel.org/admin-guide/cgroup-v2.html#memory",
		when: func(f *failure) bool {
			return !f.beyondRAM() && (f.class.class == classHost || f.onHost() && f.class.class != classShm && f.class.class != classMaps && !f.pinned()) && !f.refusedPin()
		},
		confidence: func(f *failure) float64 {
			if f.complains() {
				return 0.7 // it grows, as is said, and nothing ended yet
			}
			return max(f.class.confidence, 0.6)
		},
		evidence: func(f *failure) string {
			id := "why.host"
			if f.toldKilled() {
				id = "why.told_killed"
			} else if f.reported() {
				id = "why.told_host"
			} else if f.refusedFork() {
				id = "why.fork"
			} else if f.words.Has("why." + f.class.kind) {
				id = "why." + f.class.kind
			}
			return f.words.Say(id)
		}},
	{id: "R10", cause: CauseSharedMemory, reason: "https://docs.pytorch.org/docs/stable/multiprocessing.html",
		when:       func(f *failure) bool { return f.class.class == classShm && !f.mapsFile() && !f.roomyShm() },
		confidence: func(f *failure) float64 { return f.class.confidence },
		evidence:   func(f *failure) string { return f.words.Say("why.shm_bus_error") }},
	{id: "mapped", cause: CauseSharedMemory, form: "mapped", reason: sourceMapped,
		when:       func(f *failure) bool { return f.mapsFile() },
		confidence: always(0.6), // or workers of another loader
		evidence:   func(f *failure) string { return f.words.Say("why.mapped_file") }},
	{id: "roomy", cause: CauseSharedMemory, form: "roomy", reason: sourceMapped,
		when:       func(f *failure) bool { return f.roomyShm() },
		confidence: always(0.5),
		evidence:   func(f *failure) string { return f.words.Say("why.roomy_shm") }},
	{id: "maps", cause: CauseHostMemory, reason: "https://github.com/kohya-ss/sd-scripts/issues/1790",
		when:       func(f *failure) bool { return f.class.class == classMaps },
		confidence: func(f *failure) float64 { return f.class.confidence },
		evidence: func(f *failure) string {
			if f.tooManyMaps() {
				return f.words.Say("why.max_map_count")
			}
			return f.words.Say("why.mmap_enomem")
		}},
	{id: "pinned", cause: CauseHostMemory, reason: "https://github.com/OpenMOSS/MOSS/issues/328",
		when:       func(f *failure) bool { return f.pinned() && !f.refusedPin() },
		confidence: always(0.7),
		evidence:   func(f *failure) string { return f.words.Say("why.pinned") }},
	{id: "pinned", cause: CauseHostMemory, form: "pinned", reason: sourceWSL,
		when: func(f *failure) bool { return f.maybePinned() },
		confidence: func(f *failure) float64 {
			if f.total.Known() {
				return 0.3 // a recording shows how full the GPU was
			}
			return 0.65
		},
		evidence: func(f *failure) string { return f.words.Say("why.wsl_pinned") }},
}

// toldKilled: the text says that a process was killed, and nothing of memory.
func (f *failure) toldKilled() bool { return f.reported() && f.event.Kind == sampler.KindKilled }

// hostWants is what a server says that its model takes of RAM, and what there is.
func (f *failure) hostWants() (wants, has sampler.Bytes, ok bool) {
	if f.event.Kind != sampler.KindHostAlloc {
		return 0, 0, false
	}
	wants, known := f.requested.Value()
	has, told := f.extra("available_bytes").Value()
	return wants, has, known && told
}

// saidRAM is how much of it the machine has as the text tells, the least where it tells several.
func (f *facts) saidRAM() (least sampler.Bytes, told bool) {
	for _, what := range f.context.Told {
		n, is := strings.CutPrefix(what, sampler.ToldRAM)
		if size, err := strconv.ParseUint(n, 10, 16); is && err == nil && (!told || sampler.Bytes(size)*sampler.GiB < least) {
			least, told = sampler.Bytes(size)*sampler.GiB, true
		}
	}
	return least, told
}

// littleRAM is a machine that is said to have so little of it that a model on its way to the GPU fills it (own threshold: 16 GiB).
func (f *facts) littleRAM() bool {
	size, told := f.saidRAM()
	return told && size <= 16*sampler.GiB
}
