package proc

import (
	"bytes"
	"path"
	"strings"

	"nvpeak/sampler"
)

// frameworks are recognized by what is evident. The order is the order of preference: vLLM is
// PyTorch as well, and whoever asks wants to hear vLLM.
var frameworks = []struct {
	name     string
	programs []string // the program run, or a script or `-m` module of that name
	titles   []string // what processes call themselves by setproctitle: beginning of the command
	library  []string // part of the path of a mapped library
}{
	{"vllm", []string{"vllm"}, []string{"VLLM::"}, []string{"/vllm/_C", "/vllm/_moe_C"}},
	{"sglang", []string{"sglang"}, []string{"sglang::"}, []string{"/sgl_kernel/"}},
	{"tensorrt-llm", []string{"trtllm-serve", "trtllm-bench", "tensorrt_llm"}, nil, []string{"/libtensorrt_llm.so"}},
	{"tgi", []string{"text-generation-server", "text-generation-launcher", "text_generation_server"}, nil, nil},
	{"ollama", []string{"ollama", "ollama_llama_server"}, nil, []string{"/lib/ollama/"}},
	{"llama.cpp", []string{"llama-server", "llama-cli", "llama-bench", "llama_cpp"}, nil, []string{"/libllama.so", "/libggml-cuda.so"}},
	{"triton", []string{"tritonserver"}, nil, []string{"/libtritonserver.so"}},
	{"jax", []string{"maxtext", "jax"}, nil, []string{"/xla_cuda_plugin.so", "/jaxlib/", "/xla_extension.so"}},
	{"tensorflow", []string{"tensorflow_model_server", "tensorflow"}, nil, []string{"/libtensorflow_cc.so", "/libtensorflow_framework.so", "/_pywrap_tensorflow_internal.so"}},
	{"paddle", []string{"paddle"}, nil, []string{"/libpaddle.so"}},
	{"pytorch", []string{"torchrun", "torch", "accelerate", "deepspeed", "yolo", "ultralytics"}, nil, []string{"/libtorch_cuda.so", "/libtorch.so", "/libtorch_cpu.so", "/libtorch_cuda_linalg.so"}},
	{"onnxruntime", nil, nil, []string{"/libonnxruntime.so", "/libonnxruntime_providers_cuda.so"}},
}

// frameworkOfCommand finds the framework by the arguments of a process: the program,
// and behind an interpreter its script (also one installed in bin/) or module.
func frameworkOfCommand(args []string) string {
	if len(args) == 0 {
		return ""
	}
	for _, f := range frameworks {
		for _, title := range f.titles {
			if strings.HasPrefix(args[0], title) {
				return f.name
			}
		}
	}
	for _, program := range programsOf(args) {
		for _, f := range frameworks {
			for _, p := range f.programs {
				// "sglang.launch_server" and "torch.distributed.run" are modules of a package.
				if program == p || strings.HasPrefix(program, p+".") {
					return f.name
				}
			}
		}
	}
	return ""
}

// programsOf lists the names of what a command line runs: the program, and for an
// interpreter what it interprets.
func programsOf(args []string) []string {
	program := path.Base(args[0])
	programs := []string{program}
	if !strings.HasPrefix(program, "python") && !strings.HasPrefix(program, "pypy") {
		return programs
	}
	for i := 1; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-m" && i+1 < len(args):
			return append(programs, args[i+1])
		case a == "-c":
			return programs // code: what it holds is not the name of anything
		case a == "-X" || a == "-W":
			i++
		case !strings.HasPrefix(a, "-"):
			// A script of the user ("train.py", "jax.py") proves nothing; a program in bin/ does.
			if dir := path.Base(path.Dir(a)); dir == "bin" {
				programs = append(programs, path.Base(a))
			}
			return programs
		}
	}
	return programs
}

// libraryFinder looks for the frameworks' libraries in /proc/PID/maps, which arrives in pieces.
type libraryFinder struct {
	best int // row of frameworks, one more than it; 0: none yet
	rest []byte
}

const maxMapsLine = 8 << 10 // a path has 4 KiB at most, escaped

// add takes the next piece and says whether nothing better can come.
func (l *libraryFinder) add(piece []byte) bool {
	l.rest = append(l.rest, piece...)
	end := bytes.LastIndexByte(l.rest, '\n')
	if end < 0 {
		if len(l.rest) > maxMapsLine {
			l.rest = l.rest[:0]
		}
		return false
	}
	for i, f := range frameworks {
		if l.best > 0 && i >= l.best-1 {
			break
		}
		for _, lib := range f.library {
			if bytes.Contains(l.rest[:end], []byte(lib)) {
				l.best = i + 1
				break
			}
		}
	}
	l.rest = append(l.rest[:0], l.rest[end+1:]...)
	return l.best == 1
}

func (l *libraryFinder) name() string {
	if l.best == 0 {
		return ""
	}
	return frameworks[l.best-1].name
}

// frameworkOfEnviron is the weakest evidence, for a Python whose maps could not be read:
// options for one framework alone. Others export theirs in every shell.
func frameworkOfEnviron(name string, environment map[string]string) string {
	if !strings.HasPrefix(name, "python") {
		return ""
	}
	rows := []struct{ pattern, framework string }{
		{"XLA_PYTHON_*", "jax"}, {"TF_FORCE_GPU_ALLOW_GROWTH", "tensorflow"}, {"TF_GPU_ALLOCATOR", "tensorflow"}, {"PYTORCH_*ALLOC_CONF", "pytorch"},
	}
	found := ""
	for _, r := range rows {
		for k := range environment {
			if !match(r.pattern, k) {
				continue
			}
			if found != "" && found != r.framework {
				return "" // they contradict each other
			}
			found = r.framework
		}
	}
	return found
}

func known(s string) sampler.Opt[string] {
	if s == "" {
		return sampler.Opt[string]{}
	}
	return sampler.Some(s)
}
