package explain

import (
	"strconv"
	"strings"

	"nvpeak/advice/command"
	"nvpeak/sampler"
)

var fixesAllocator = []fixRow{
	{id: "expandable_segments", source: sourceNotes,
		fits: map[string]float64{"fragmentation": 1, "too_big": 0.6, "validation_spike": 0.5, "data_spike": 0.5},
		when: func(f *failure) bool {
			return f.isPyTorch() && (f.event.Kind == sampler.KindCUDA || f.event.Kind == sampler.KindHIP) && f.holesShare() >= 0.05 &&
				f.fitsInHoles() && !f.expandable() && !f.expandableBroken() && !f.oversubscribed() && !f.limited()
		},
		saves: func(f *failure) (span, bool) { return span{partOf(f.holes.Or(0), 0.5), f.holes.Or(0)}, f.holes.Known() },
		reach: func(f *failure) float64 {
			if f.missingOr0() <= partOf(f.holes.Or(0), 0.8) {
				return 1
			}
			return 0.7
		},
		variant: func(f *failure) string {
			if f.beforeExpandable() {
				return "old"
			}
			return ""
		},
		pairs: func(f *failure) []any {
			return []any{"holes", f.amountOf(f.holes.Or(0)), "missing", f.amountOf(f.missingOr0())}
		},
		do: doExpandable},
	{id: "expandable_segments_off", source: "https://github.com/pytorch/pytorch/issues/192330",
		fits: map[string]float64{"unknown": 0.9, "memory_limit": 0.8},
		when: func(f *failure) bool {
			return f.event.Kind == sampler.KindCUDADriver || f.expandable() && f.expandableBroken()
		},
		do: func(f *failure) []string {
			name, value := f.allocatorVariable(), withoutOption(f.allocatorOptions(), "expandable_segments")
			value = strings.TrimPrefix(value+",expandable_segments:False", ",")
			return f.setVariable(name, value)
		}},
}

// The names of the variable with the options of PyTorch's allocator, the one to advise first.
// PYTORCH_ALLOC_CONF is newer, but torch 2.8 to 2.10 can ignore it on CUDA.
// https://github.com/pytorch/pytorch/issues/183387
var allocatorNames = []string{"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF", "PYTORCH_ALLOC_CONF"}

// allocatorOptions are the options in force, of whichever name.
func (f *failure) allocatorOptions() string {
	for _, name := range allocatorNames {
		if v := f.environment[name]; v != "" {
			return v
		}
	}
	return ""
}

// allocatorVariable is the name to set: the HIP one for AMD, else the CUDA one that every version reads.
func (f *failure) allocatorVariable() string {
	if f.event.Kind == sampler.KindHIP {
		return "PYTORCH_HIP_ALLOC_CONF"
	}
	return "PYTORCH_CUDA_ALLOC_CONF"
}

// expandable: the segments grow already. The new variable name alone counts only where the
// version reads it.
func (f *failure) expandable() bool {
	for _, name := range allocatorNames {
		if !optionOn(f.environment[name], "expandable_segments") {
			continue
		}
		if name == "PYTORCH_ALLOC_CONF" && f.ignoresNewName() {
			f.note("note.new_name")
			continue
		}
		return true
	}
	return false
}

// ignoresNewName: torch 2.8 to 2.10.
func (f *failure) ignoresNewName() bool {
	parts := strings.SplitN(f.context.FrameworkVersion, ".", 3)
	if len(parts) < 2 || parts[0] != "2" {
		return false
	}
	minor, err := strconv.Atoi(parts[1])
	return err == nil && minor >= 8 && minor <= 10
}

func optionOn(options, name string) bool {
	for o := range strings.SplitSeq(options, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(o), ":")
		if strings.TrimSpace(key) == name {
			return strings.EqualFold(strings.TrimSpace(value), "true")
		}
	}
	return false
}

// withoutOption drops options by name and keeps the others.
func withoutOption(options string, names ...string) string {
	var kept []string
	for o := range strings.SplitSeq(options, ",") {
		key, _, _ := strings.Cut(strings.TrimSpace(o), ":")
		drop := strings.TrimSpace(o) == ""
		for _, n := range names {
			drop = drop || strings.TrimSpace(key) == n
		}
		if !drop {
			kept = append(kept, strings.TrimSpace(o))
		}
	}
	return strings.Join(kept, ",")
}

// expandableBroken: Windows, WSL2 and Jetson do not support expandable segments well.
// https://github.com/pytorch/pytorch/issues/122057 (Windows), /192330 (WSL2),
// https://github.com/unslothai/unsloth/issues/2401 (Jetson)
func (f *failure) expandableBroken() bool {
	if f.gpu.soc || f.environment["WSL_DISTRO_NAME"] != "" || f.environment["WSL_INTEROP"] != "" {
		return true
	}
	text := f.event.Text
	windows := indexOf(text, `C:\`) >= 0 || indexOf(text, `D:\`) >= 0 || indexOf(text, `\site-packages\`) >= 0
	wsl := indexOf(text, "/mnt/c/") >= 0 || indexOf(strings.ToLower(text), "wsl2") >= 0
	return windows || wsl || strings.HasPrefix(f.command.Text, `C:\`)
}

func doExpandable(f *failure) []string {
	// max_split_size_mb together with expandable_segments is pointless and failed an assertion
	// before https://github.com/pytorch/pytorch/pull/134338; cudaMallocAsync ignores both.
	value := withoutOption(f.allocatorOptions(), "expandable_segments", "max_split_size_mb", "backend")
	value = strings.TrimPrefix(value+",expandable_segments:True", ",")
	lines := f.setVariable(f.allocatorVariable(), value)
	if f.beforeExpandable() {
		lines = append(append([]string{"pip install --upgrade torch"}, lines...),
			"export "+f.allocatorVariable()+"=max_split_size_mb:512  "+f.comment("do.split_size"))
	}
	return lines
}

// beforeExpandable: PyTorch before 2.1 has no expandable segments and refuses to start with an
// option it does not know. Its messages are worded "reserved in total by PyTorch" (1.4 to 2.0).
func (f *failure) beforeExpandable() bool {
	if f.event.Reserved.Known() {
		return true
	}
	major, rest, _ := strings.Cut(f.context.FrameworkVersion, ".")
	minor, _, _ := strings.Cut(rest, ".")
	return f.event.Framework == "pytorch" && (major == "1" || major == "2" && minor == "0")
}

// setVariable is the user's command with the variable in front, or an export when there is none.
func (f *failure) setVariable(name, value string) []string {
	if text, ok := f.command.WithVariable(name, value); ok {
		return []string{text}
	}
	return []string{"export " + name + "=" + command.Quote(value)}
}

// roomForProcess is what the process could have had: the card without what others hold and
// without what lies outside its allocator.
func (f *failure) roomForProcess() sampler.Bytes {
	outside := f.outside.Or(ContextTypical)
	elsewhere := f.elsewhere.Or(0)
	if f.ownInside {
		return f.total.Or(0).Less(elsewhere)
	}
	return f.total.Or(0).Less(elsewhere).Less(outside)
}
