package explain

import (
	"slices"
	"strings"

	"nvpeak/sampler"
)

// tooManyMaps: the number in /torch_PID_RAND_K is near the kernel's limit of 65530 mappings per
// process, so it is not memory that is short.
func (f *facts) tooManyMaps() bool {
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

// tooManyMapsOnly: mappings are short, not memory.
func (f *facts) tooManyMapsOnly() bool { return f.class.class == classMaps && f.tooManyMaps() }

// onHost: nothing about the GPU can help.
func (f *facts) onHost() bool {
	switch f.class.class {
	case classHost, classShm, classMaps:
		return true
	}
	return f.event.MemoryKind == sampler.MemoryHost || f.pinned()
}

// pinned: a CUDA error at a line that pins or copies to host memory is about RAM. WSL2 allows
// little of it. https://github.com/OpenMOSS/MOSS/issues/328
func (f *facts) pinned() bool {
	return f.class.class == classNoNumbers && (f.inFunction("pin_memory", "cudahostalloc") || f.inCode("pin_memory()", `.to("cpu"`, ".to('cpu'", ".cpu()"))
}

// isPyTorch: the allocator options and torch code of the fixes apply.
func (f *facts) isPyTorch() bool {
	if f.language() != "" || f.growsTrees() && !f.inFile("torch/") { // whose macro around calls of CUDA prints the same words
		return false
	}
	switch f.event.Framework {
	case "pytorch", "deepspeed", "comfyui":
		return true
	}
	return false
}

// torchCode: lines of Python for PyTorch can be of use. Where the framework is not known it mostly is that one.
func (f *facts) torchCode() bool {
	return (f.isPyTorch() || f.event.Framework == "") && !f.compiled() && f.language() == ""
}

// native: a program that calls the GPU itself, so nothing about the code of a framework applies.
func (f *facts) native() bool {
	switch f.event.Framework {
	case "thrust":
		return !f.inFile(".py") && len(f.context.Scripts) == 0 // of Python, as MinkowskiEngine and Open3D are
	case "cuda", "dlib", "cntk", "kokkos", "physx", "warp", "cudarc", "blender", "hip", "lammps", "hashcat", "nvenc", "nvdec", "opengl", "directx", "mesa", "unreal", "matlab":
		return true
	}
	return false
}

// isServing: an inference server, whose memory is set by its own options.
func (f *facts) isServing() bool { return f.program.is(server) }

// server is the name of the inference server that failed, or "".
func (f *facts) server() string {
	if f.isServing() {
		return f.program.name
	}
	return ""
}

// inFile says whether a source file of the traceback holds one of the parts.
func (f *facts) inFile(parts ...string) bool {
	return slices.ContainsFunc(f.context.Files, func(file string) bool {
		file = strings.ReplaceAll(file, `\`, "/")
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(file, p) })
	})
}

// inFunction says whether a function of the traceback holds one of the parts.
func (f *facts) inFunction(parts ...string) bool {
	return slices.ContainsFunc(f.context.Functions, func(name string) bool {
		name = strings.ToLower(name)
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(name, p) })
	})
}

// movesAll: what failed is the line that brings the data to the GPU, made from an array of the host at that place, and
// tensors fill the GPU already.
func (f *facts) movesAll() bool {
	n := len(f.context.Code)
	return n > 0 && wholeArray.Get().MatchString(f.context.Code[n-1]) && f.allocated.Or(0) > f.total.Or(0)/4
}

// wholeArray is a line that makes a tensor of an array and moves it.
var wholeArray = sampler.Pattern{Source: `\b(?:from_numpy|as_tensor|torch\.(?:tensor|Tensor|FloatTensor))\(.*\.(?:to|cuda)\(`}

// inCode says whether a quoted source line or the text holds one of the parts.
func (f *facts) inCode(parts ...string) bool {
	return slices.ContainsFunc(f.context.Code, func(line string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(line, p) })
	})
}

// inOptimizer: it died while the optimizer made its state or stepped; activations are gone by then.
func (f *facts) inOptimizer() bool {
	return f.inFunction("optimizer_step", "optimizer_state", "_init_group", "_single_tensor_adam", "_multi_tensor_adam", "adamw") || f.inFile("torch/optim/") || f.inCode("exp_avg")
}

// inBackward: most of a step's memory is already taken when backward begins.
func (f *facts) inBackward() bool {
	return f.inFunction("backward") || f.inOptimizer()
}
