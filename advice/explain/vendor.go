package explain

import (
	"slices"
	"strings"

	"nvpeak/sampler"
)

// onROCm: the error is of a call of AMD's driver, which a program that is written for CUDA calls an error of CUDA.
func (f *failure) onROCm() bool {
	return slices.ContainsFunc([]string{"hipMalloc", "hipError", "ROCm error", "ROCm0"}, func(word string) bool { return indexOf(f.event.Text, word) >= 0 })
}

// ofVendor names the tools of the maker of the GPU.
func (f *failure) ofVendor(list []string) []string {
	var r *strings.Replacer
	kind := f.event.Kind
	if f.onROCm() || f.told(sampler.ToldROCm) && !f.onWindows() {
		kind = sampler.KindHIP
	}
	switch kind {
	case sampler.KindHIP:
		r = strings.NewReplacer("nvidia-smi --query-compute-apps=pid,name,used_memory --format=csv", "rocm-smi --showpids", "nvidia-smi", "rocm-smi", "/dev/nvidia*", "/dev/kfd")
	case sampler.KindNPU:
		r = strings.NewReplacer("nvidia-smi --query-compute-apps=pid,name,used_memory --format=csv", "npu-smi info", "nvidia-smi", "npu-smi info", "/dev/nvidia*", "/dev/davinci*",
			"torch.cuda.", "torch.npu.", `autocast("cuda"`, `autocast("npu"`)
	case sampler.KindXPU:
		r = strings.NewReplacer("nvidia-smi --query-compute-apps=pid,name,used_memory --format=csv", "xpu-smi ps", "nvidia-smi", "xpu-smi ps", "/dev/nvidia*", "/dev/dri/*",
			"torch.cuda.", "torch.xpu.", `autocast("cuda"`, `autocast("xpu"`)
	default:
		if monitor := f.monitor(); monitor != "" {
			return f.watchedWith(monitor, list)
		}
		return list
	}
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = r.Replace(s)
	}
	return out
}

// monitor is the program that shows the GPU of another maker than NVIDIA, by its id; "" where nvidia-smi or one like it does.
func (f *failure) monitor() string {
	switch {
	case f.told(sampler.ToldApple) || f.event.Kind == sampler.KindMPS:
		return "do.monitor.apple"
	case f.told(sampler.ToldRadeon) && f.event.Kind != sampler.KindHIP && !f.onROCm():
		return "do.monitor.radeon"
	}
	return ""
}

// watchedWith names that program in place of nvidia-smi. What only Linux with NVIDIA's driver has is left out.
func (f *failure) watchedWith(monitor string, list []string) []string {
	out := []string{}
	for _, line := range list {
		switch _, why, _ := strings.Cut(line, "  # "); {
		case strings.HasPrefix(line, "nvidia-smi") && why != "":
			out = append(out, f.comment(monitor)+": "+why)
		case strings.HasPrefix(line, "nvidia-smi"):
			out = append(out, f.comment(monitor))
		case strings.HasPrefix(line, "nvpeak ") || strings.Contains(line, "/dev/nvidia"):
		default:
			out = append(out, line)
		}
	}
	return out
}

// ofNVIDIA: nothing says that the GPU is another maker's, which nvpeak does not read.
func (f *failure) ofNVIDIA() bool {
	return f.monitor() == "" && !f.onROCm() && !f.told(sampler.ToldROCm) && f.event.Kind != sampler.KindHIP && f.event.Kind != sampler.KindXPU && f.event.Kind != sampler.KindNPU
}

// ofSystem is what to type on Windows, where the log is from there.
func (f *failure) ofSystem(list []string) []string {
	if !f.onWindows() || f.told(sampler.ToldWSL) && !f.runsOutside() {
		return list // the Linux within it has its own commands
	}
	out := make([]string, 0, len(list))
	for _, line := range list {
		switch pid, isKill := strings.CutPrefix(line, "kill "); {
		case isKill:
			line = "taskkill /PID " + pid
		case strings.HasPrefix(line, "ps -o "):
			line = `tasklist /FI "PID eq ` + line[strings.LastIndexByte(line, ' ')+1:] + `"`
		case strings.HasPrefix(line, "sudo ") || strings.HasPrefix(line, "nvpeak wait"):
			continue
		case strings.HasPrefix(line, "cat /") || strings.HasPrefix(line, "free -g"):
			line = `systeminfo | findstr /C:"Memory"`
		case strings.HasPrefix(line, "docker run ") || strings.HasPrefix(line, "df "):
			continue
		case strings.HasPrefix(line, "export "):
			line = "set " + strings.TrimPrefix(line, "export ")
		}
		out = append(out, line)
	}
	return out
}
