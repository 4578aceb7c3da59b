package oomlog

import (
	"bytes"
	"slices"
	"strings"
)

// programNames are what lines of an inference server or image tool have in them: prefixes, files of
// tracebacks, and what it prints.
var programNames = []struct{ part, name string }{
	{"/vllm/", "vllm"}, {"VllmWorker", "vllm"}, {"(EngineCore", "vllm"}, {"cumem_allocator", "vllm"}, {`\vllm\`, "vllm"}, {"/sglang/", "sglang"},
	{"text_generation_server", "tgi"}, {"text-generation-launcher", "tgi"}, {"text_generation_launcher", "tgi"},
	{"max-batch-prefill-tokens", "tgi"},
	{"tensorrt_llm", "tensorrt-llm"}, {"[TensorRT-LLM]", "tensorrt-llm"}, {"[TRT-LLM]", "tensorrt-llm"},
	{"triton_python_backend", "triton"}, {"tritonserver", "triton"}, {"/lmdeploy/", "lmdeploy"},
	{"Received sigquit from a child process", "sglang"},
	{"Got an OOM, unloading", "comfyui"}, {"Prompt executed in", "comfyui"}, {"Error occurred when executing", "comfyui"},
	{"ComfyUI", "comfyui"}, {"comfy/model_management", "comfyui"},
	{"webui-forge", "forge"}, {"stable-diffusion-webui", "webui"}, {`\webui\modules\`, "webui"}, {"/modules/processing.py", "webui"}, {`\modules\processing.py`, "webui"},
	{"ollama", "ollama"}, {"/alphafold/", "alphafold"}, {"colabfold", "alphafold"}, {"Not Enough GPU memory?", "alphafold"},
	{"Loading weights [", "webui"}, {"Stable diffusion model failed to load", "webui"}, {"SD WebUI", "webui"}, {"sd-webui", "webui"}, {"sd.webui", "webui"},
	{"from vllm import", "vllm"}, {"from lmdeploy import", "lmdeploy"}, {"lmdeploy==", "lmdeploy"}, {"import sglang", "sglang"},
	{"comfy/ldm/", "comfyui"}, {`comfy\ldm\`, "comfyui"},
	{"/diffusers/pipelines/", "diffusers"}, {`\diffusers\pipelines\`, "diffusers"}, {"/ldm/modules/", "ldm"}, {`\ldm\modules\`, "ldm"},
}

// programWords are what the parser looks for.
func programWords() (words []string) {
	for _, p := range programNames {
		words = append(words, strings.ToLower(p.part))
	}
	return words
}

// programIn is the server or tool that a line names; "" for none.
func programIn(text []byte) string {
	for _, p := range programNames {
		for rest := text; ; {
			at := bytes.Index(rest, []byte(p.part))
			if at < 0 {
				break
			}
			if rest = rest[at:]; !isData(rest) {
				return p.name
			}
			rest = rest[len(p.part):]
		}
	}
	return ""
}

// dataFolders are those in which a program keeps what other programs read and write, too.
var dataFolders = [][]byte{[]byte("models"), []byte("embeddings"), []byte("outputs"), []byte("checkpoints"), []byte("data"), []byte("downloads")}

// isData says whether a path goes on to such a folder and to no source file, so that it does not tell what runs.
func isData(rest []byte) bool {
	if end := bytes.IndexAny(rest, " \t\"'`,;"); end >= 0 {
		rest = rest[:end]
	}
	parts := bytes.FieldsFunc(rest, func(r rune) bool { return r == '/' || r == '\\' })
	if len(parts) == 0 || bytes.Contains(parts[len(parts)-1], []byte(".py")) {
		return false
	}
	return slices.ContainsFunc(parts[1:], func(part []byte) bool {
		return slices.ContainsFunc(dataFolders, func(name []byte) bool { return bytes.Equal(bytes.ToLower(part), name) })
	})
}

// fileOf is the source file that a line of a traceback names, its last two parts.
func fileOf(text string) string {
	path, _, ok := strings.Cut(strings.TrimPrefix(text, "File "), ".py")
	if !ok {
		return ""
	}
	path = strings.TrimLeft(path+".py", `" `)
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' })
	between := "/"
	if strings.Contains(path, `\`) {
		between = `\` // so that a path of Windows is known as one
	}
	return strings.Join(parts[max(0, len(parts)-2):], between)
}
