package explain

// programRows are the tools that have options of their own. Sources: their documentation, named
// with the fixes in fix_tools.go.
var programRows = []programRow{
	{program: program{"vllm", server}, words: []string{"vllm.entrypoints.openai.api_server", "vllm.entrypoints.api_server"}},
	{program: program{"sglang", server}, words: []string{"sglang.launch_server"}},
	{program: program{"tgi", server}, words: []string{"text-generation-launcher", "text-generation-server", "text-generation-inference"}},
	{program: program{"tensorrt-llm", server}, words: []string{"trtllm-serve", "trtllm-build", "trtllm-bench", "tensorrt_llm"}},
	{program: program{"triton", server}, words: []string{"tritonserver"}},
	{program: program{"lmdeploy", server}, words: []string{"lmdeploy"}},
	{program: program{"ollama", server}, words: []string{"ollama"}},
	{program: program{"tabby", server}, words: []string{"tabby"}},
	{program: program{"llama.cpp", server}, words: []string{"llama-server", "llama-cli", "llama-bench", "llama-cpp-python", "llama_cpp.server", "koboldcpp", "koboldcpp.py"}},
	{program: program{"comfyui", imageTool}, options: []string{"novram", "reserve_vram", "use_split_cross_attention", "disable_smart_memory", "cache_none"}},
	{program: program{"forge", imageTool}, words: []string{"stable-diffusion-webui-forge"}},
	{program: program{"webui", imageTool}, words: []string{"webui.py", "webui.sh", "webui-user.sh", "webui-user.bat", "webui.bat", "stable-diffusion-webui"},
		options: []string{"medvram", "no_half", "no_half_vae", "opt_sdp_attention", "medvram_sdxl", "opt_split_attention"}},
	{program: program{"easydiffusion", imageTool}},
	{program: program{"chat-ui", server}, words: []string{"koboldai", "text-generation-webui"}},
	{program: program{"invokeai", imageTool}, words: []string{"invoke.py", "invokeai", "invokeai-web"}},
	{program: program{"whisper", inference}, framework: "ctranslate2", words: []string{"whisper", "whisperx", "faster-whisper", "whisper-ctranslate2"}, unlessTrains: true},
	{program: program{"demucs", inference}, words: []string{"demucs", "demucs.separate"}, unlessTrains: true},
	{program: program{"upscaler", imageTool}},
	{program: program{"alphafold", inference}, words: []string{"run_alphafold.py", "run_docker.py", "colabfold_batch"}, unlessTrains: true},
	{program: program{"llama-reference", server}}, // its cache is allocated for the largest batch at start
	{program: program{"diffusers", imageTool}, unlessTrains: true},
	{program: program{"ldm", imageTool}, unlessTrains: true},
	{program: program{"lm_eval", evaluation}, words: []string{"lm_eval", "lm-eval", "lm_eval.evaluator", "lm-evaluation-harness", "lighteval", "opencompass", "bigcode-evaluation-harness", "vlmevalkit", "lmms_eval"}, unlessTrains: true},
}
