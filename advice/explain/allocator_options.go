package explain

import (
	"slices"
	"strconv"
	"strings"

	"nvpeak/advice/command"
	"nvpeak/sampler"
)

// The names of the variable with the options of PyTorch's allocator, the one to advise first.
// PYTORCH_ALLOC_CONF is newer, but torch 2.8 to 2.10 can ignore it on CUDA.
// https://github.com/pytorch/pytorch/issues/183387
var allocatorNames = []string{"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF", "PYTORCH_ALLOC_CONF"}

// allocatorOptions are the options in force, of whichever name.
func (f *job) allocatorOptions() string {
	for _, name := range allocatorNames {
		if v := f.environment[name]; v != "" {
			return v
		}
	}
	return ""
}

// allocatorVariable is the name to set: the HIP one for AMD, else the CUDA one that every version reads.
func (f *job) allocatorVariable() string {
	if f.event.Kind == sampler.KindHIP {
		return "PYTORCH_HIP_ALLOC_CONF"
	}
	return "PYTORCH_CUDA_ALLOC_CONF"
}

// expandable: the segments grow already. The new variable name alone counts only where the
// version reads it.
func (f *job) expandable() bool {
	for _, name := range allocatorNames {
		if !optionOn(f.environment[name], FixExpandableSegments) {
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
func (f *job) ignoresNewName() bool {
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
func (f *job) expandableBroken() bool {
	if f.gpu.soc || f.environment["WSL_DISTRO_NAME"] != "" || f.environment["WSL_INTEROP"] != "" {
		return true
	}
	text := f.event.Text
	wsl := indexOf(text, "/mnt/c/") >= 0 || indexOf(strings.ToLower(text), "wsl2") >= 0
	return f.onWindows() || wsl
}

// saysCached: the wording of PyTorch 1.0 to 1.3, which has no option of any kind.
func (f *facts) saysCached() bool {
	return f.shows(sampler.ShowsCached) || indexOf(f.event.Text, " cached)") >= 0
}

// beforeExpandable: PyTorch before 2.1 has no expandable segments and refuses to start with an
// option it does not know. Its messages are worded "reserved in total by PyTorch" (1.4 to 2.0).
func (f *job) beforeExpandable() bool {
	if f.event.Reserved.Known() {
		return true
	}
	major, rest, _ := strings.Cut(f.context.FrameworkVersion, ".")
	minor, _, _ := strings.Cut(rest, ".")
	return f.event.Framework == "pytorch" && (major == "1" || major == "2" && minor == "0")
}

// setVariable is the user's command with the variable in front, or an export when there is none.
func (f *job) setVariable(name, value string) []string {
	if text, ok := f.command.WithVariable(name, value); ok {
		return []string{text}
	}
	return []string{"export " + name + "=" + command.Quote(value)}
}

// onWindows: paths of the log or the command are those of Windows, or it is said.
func (f *job) onWindows() bool {
	text := f.event.Text
	return f.told(sampler.ToldWindows) || f.environment["OS"] == "Windows_NT" || indexOf(text, `C:\`) >= 0 || indexOf(text, `D:\`) >= 0 || indexOf(text, `\site-packages\`) >= 0 || strings.HasPrefix(f.command.Text, `C:\`) ||
		slices.ContainsFunc(f.context.Files, func(file string) bool { return strings.Contains(file, `\`) })
}

// onLinux: the log or a recording shows that it is no Windows.
func (f *job) onLinux() bool {
	return f.history != nil || !f.onWindows() && (slices.ContainsFunc(f.context.Files, func(file string) bool { return strings.Contains(file, "/") }) ||
		indexOf(f.event.Text, "/home/") >= 0 || indexOf(f.event.Text, "/usr/") >= 0 || f.command.Runs("srun", "sbatch"))
}
