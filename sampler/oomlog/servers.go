package oomlog

// serverNames are what lines of an inference server have in them: prefixes and files of tracebacks.
var serverNames = []struct{ part, name string }{
	{"/vllm/", "vllm"}, {"VllmWorker", "vllm"}, {"(EngineCore", "vllm"}, {`\vllm\`, "vllm"}, {"/sglang/", "sglang"},
}
