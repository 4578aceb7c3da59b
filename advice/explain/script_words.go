package explain

// scriptWords tell by the name of a script what it does. A name with words of several kinds is
// decided by the first row.
var scriptWords = []struct {
	program
	words []string
}{
	{program{kind: training}, []string{"train", "training", "trainer", "finetune", "finetuning", "tune", "tuning", "pretrain", "pretraining", "fit", "dreambooth", "distill", "sft", "dpo", "ppo", "grpo", "clm", "mlm", "glue"}},
	{program{kind: evaluation}, []string{"eval", "evaluate", "evaluation", "test", "val", "validate", "benchmark", "bench", "submit", "submission"}},
	{program{"ldm", imageTool}, []string{"txt2img", "img2img", "knn2img", "depth2img", "inpaint"}},
	{program{"upscaler", imageTool}, []string{"esrgan", "realesrgan", "gfpgan", "codeformer", "upscale", "superres"}},
	{program{kind: inference}, []string{"generate", "generation", "gen", "infer", "inference", "predict", "prediction", "demo", "play", "sample", "sampling", "chat", "cli", "translate",
		"transcribe", "decode", "decoding", "detect", "app", "gradio", "serve", "server", "api", "extract", "embed", "encode", "render", "webui", "interface", "whisper", "summarize", "run_inference"}},
	// Scripts that only use what was trained so also carry these in their names.
	{program{kind: training}, []string{"lora", "ctc", "seq2seq", "inversion", "learn", "rl"}},
}
