package explain

// rulesHost is R10: the kernel, a container limit or a watchdog took the process for its host
// memory. Nothing about the GPU is said then.
var rulesHost = []oomRule{
	{id: "R10", cause: "host_memory", reason: "https://docs.kernel.org/admin-guide/cgroup-v2.html#memory",
		when: func(f *failure) bool {
			return f.class.class == classHost || f.onHost() && f.class.cause == "" && !f.pinned()
		},
		sure: func(f *failure) float64 { return max(f.class.confidence, 0.6) },
		say: func(f *failure) string {
			id := "why.host"
			if f.words.Has("why." + f.class.kind) {
				id = "why." + f.class.kind
			}
			return f.words.Say(id)
		}},
	{id: "R10", cause: "shared_memory", reason: "https://docs.pytorch.org/docs/stable/multiprocessing.html",
		when: func(f *failure) bool { return f.class.class == classShm },
		sure: func(f *failure) float64 { return f.class.confidence },
		say:  func(f *failure) string { return f.words.Say("why.shm_bus_error") }},
	{id: "maps", cause: "host_memory", reason: "https://github.com/kohya-ss/sd-scripts/issues/1790",
		when: func(f *failure) bool { return f.class.class == classMaps },
		sure: func(f *failure) float64 { return f.class.confidence },
		say: func(f *failure) string {
			if f.tooManyMaps() {
				return f.words.Say("why.max_map_count")
			}
			return f.words.Say("why.mmap_enomem")
		}},
	{id: "pinned", cause: "host_memory", reason: "https://github.com/OpenMOSS/MOSS/issues/328",
		when: func(f *failure) bool { return f.pinned() },
		sure: always(0.7),
		say:  func(f *failure) string { return f.words.Say("why.pinned") }},
}

// tooManyMaps: the number in /torch_PID_RAND_K is near the kernel's limit of 65530 mappings per
// process, so it is not memory that is short.
func (f *failure) tooManyMaps() bool {
	for _, key := range []string{"map_number", "mapping_number", "file_number", "sequence", "k", "shm_index"} {
		switch v := f.event.Extra[key].(type) {
		case float64:
			return v >= 30000
		case int:
			return v >= 30000
		}
	}
	return lastNumberAfter(f.event.Text, "/torch_") >= 30000
}

// lastNumberAfter reads the last number of the name that begins with mark: "/torch_12_345_64990" gives 64990.
func lastNumberAfter(text, mark string) int {
	at := indexOf(text, mark)
	if at < 0 {
		return 0
	}
	n := 0
	for i := at + len(mark); i < len(text); i++ {
		switch b := text[i]; {
		case b >= '0' && b <= '9':
			if n < 1<<40 {
				n = n*10 + int(b-'0')
			}
		case b == '_':
			n = 0
		default:
			return n
		}
	}
	return n
}
