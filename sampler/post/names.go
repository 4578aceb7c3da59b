package post

import (
	"slices"
	"strings"

	"nvpeak/sampler"
)

var (
	script = lazily(`(?:^|[\s"'\x60(/\\])([\w-]+\.(?:py|sh|ipynb))\b`)
	frame  = lazily(`^\s*(?:File "|\S+\.py(?:[:(]| (?:\d|in |line |\())|[>-]+ ?\d+ )`)
	// command is one that stands anywhere in a line; quoting or the words behind it end it.
	command = lazily("(?:^|[\\s`\"'(])((?:[A-Z_]+=\\S+\\s+)*(?:python[\\d.]*\\s+(?:-\\S+\\s+)*\\S+\\.py|python[\\d.]*(?:\\.exe)?\\s+-m\\s+[\\w.]+|(?:ba)?sh\\s+\\S+\\.sh|torchrun\\s+\\S|accelerate launch\\s+\\S|deepspeed\\s+\\S+\\.py|vllm serve\\s+\\S*[/\\d-]\\S*|lmdeploy serve \\w+\\s+\\S*[/\\d-]\\S*|ollama run\\s+\\S|text-generation-launcher\\s+-\\S|docker run\\s+\\S)[^`]*)")
	// stuck is an option without a blank before it.
	stuck = lazily(`(\s--[\w-]+[ =]\d+)(--[a-z])`)
	// continued is where a command goes on in the next line.
	continued = lazily(`\\[ \t]*\r?\n[ \t]*`)
	// onlyOptions is a line below a command that begins with an option, as who broke a long command left it.
	onlyOptions = lazily(`^\s*--?[A-Za-z][\w-]*(?:[ =]|\s*$)`)
	// loads is a line of code that loads a model, in a text that shows no other use of it.
	loads = lazily(`\.from_pretrained\(`)
	// moves is one that puts a whole model on the GPU.
	moves = lazily(`\b(?:self\.)?(?:\w+_)?(?:model|net|module)\.(?:to\((?:self\.)?(?:device|["']cuda)|cuda\(\))`)
	uses  = lazily(`\b(?:\w+_)?(?:model|net|module|pipe(?:line)?)\(|` +
		`\w\.(?:transcribe|generate|encode|predict|infer|chat|separate|segment|enhance|denoise|restore|upscale|synthesi[sz]e|tts|embed|translate|summari[sz]e|` +
		`detect|track|sample|forward|inference|caption)\w*\(`)
	prose = lazily(`(?:[,:;]\s|\.\s+(?:[A-Z][a-z]*|it) |\s(?:on|with|in|and|for|gives?|from|at|which|then|fails?|stops?|runs|dies|but|the|it)\s).*$`)
)

// programs are the tools that a text names by what is theirs only.
var programs = []struct {
	name  string
	words *lazy
}{
	// TGI by its short name, of which people also say that it takes vLLM's kernels.
	{"tgi", lazily(`(?i)\b(?:models?|run|running|runs|serv\w+|deploy\w*)\b[^.\n]{0,30}\b(?:on|with|in|using|via) tgi\b`)},
	// A model that makes pictures is served by SGLang, too, and what that sets of a language model is nothing to it.
	{"diffusers", lazily(`(?i)\bsglang\b(?:\W{1,3}|\W{0,3}(?:and|or|vs\.?)\W{1,3})(?:the )?diffus\w+|\bdiffusers\b(?:\W{1,3}|\W{0,3}(?:and|or|vs\.?)\W{1,3})(?:the )?sglang\b|\bsglang[-_.]+(?:diffusion|multimodal_gen)\b`)},
	{"sglang", lazily(`(?i)\bsglang(?:\b|v?\d)|\bmem[-_]fraction[-_]static\b`)},
	{"vllm", lazily(`(?i)\bvllm(?:\b|v?\d)|\bgpu[-_]memory[-_]utilization\b|\b(?:INFO|ERROR|WARNING) \d\d-\d\d \d\d:\d\d:\d\d \[?[\w/]+\.py:\d+\]`)},
	{"tgi", lazily(`(?i)\btext[-_]generation[-_](?:inference|launcher|client|router|server)\b`)},
	{"tensorrt-llm", lazily(`(?i)\btensorrt[-_ ]?llm\b|\btrtllm\b|\btrtllm-\w+|\bModelRunnerCpp\b|\bkv_cache_free_gpu_mem\w*|\bGPTAttention_\d|--use_gpt_attention_plugin\b`)},
	{"lmdeploy", lazily(`(?i)\blmdeploy\b`)},
	{"triton", lazily(`(?i)\btritonserver\b|(?-i:\bTRTIS\b)|\btensorrtserver\b|\binstance_group\b|\btr(?:iton|inton)[- ](?:inference[- ])?(?:server|container)\b|\btriton information\b|` +
		`\btriton-inference-server\b|\bin triton\b[^\n]{0,80}\binstances?\b|\binstance count\b`)},
	{"alphafold", lazily(`(?i)\b(?:alphafold|colabfold|openfold|fastfold|uni-?fold|esmfold|omegafold|rosettafold|helixfold)\w*|` +
		`\bfold(?:ing)?\b[^.\n]{0,60}\b(?:\d+ ?aa|residues|amino acids|proteins?|monomers?|\w+mers?)\b|\bfolding with model\b|\bpredict\w* the structure of\b|` +
		`\b(?:protein|complex|dimer)\b[^.\n]{0,40}\b\d{2,5} ?(?:residues|aa|amino acids)\b|(?s:\bjax\b.*\b\d{3,5} residues\b|\b\d{3,5} residues\b.*\bjax\b)`)},
	{"upscaler", lazily(`(?i)\breal-?esrgan\b|(?m:^Testing \d+ \S+$)`)},
	{"ldm", lazily(`--(?:n_samples|ddim_steps|n_iter)\b|(?m:^.*\binit_image = )`)},
	{"tabby", lazily(`(?i)\btabby serve\b|\btabbyml\b|\btabby::\w`)},
	{"ollama", lazily(`(?i)\bollama\b`)},
	{"llama.cpp", lazily(`(?i)\bllama[._-]cpp\b|\bn_gpu_layers\b|\bllama-(?:server|cli)\b|\bllama_new_context`)},
	{"invokeai", lazily(`\binvoke\.py\b|\b(?:use|using|in|on|with|does|running) Invoke(?:[\s,?;]|\.\s|$)|(?i:\binvokeai\b)|>> *Max VRAM used|image\(s\) generated`)},
	{"forge", lazily(`(?i)\bstable-diffusion-webui-(?:forge|reforge)\w*|\b(?:sd )?webui forge\b|\bforge webui\b|\bforge_\w+`)},
	{"webui", lazily(`(?im)\bstable[- ]diffusion[- ]webui\b|\bautomatic1111\b|\ba1111\b|(?-i:^A: [\d.]+ GB, R: [\d.]+ GB, Sys: )|--(?:med|low)vram\b[^\n]*\bwebui|^#+ *commit where the problem happens\b|\bweb ?ui\b(?s:.*)\bhi(?:gh)?[- ]?res(?:olution)?[ .]fix\b`)},
	{"easydiffusion", lazily(`(?i)\beasy[- ]?diffusion\b|\bstable-diffusion-ui\b`)},
	{"chat-ui", lazily(`(?i)\bkobold ?ai\b|\btavern ?ai\b|\boobabooga\b|\btext-generation-webui\b`)},
	{"comfyui", lazily(`(?i)\bcomfyui\b|(?-i:\bComfy\b)|\bcomfy(?:\.org|-org/|anonymous/)|[/\\]custom_nodes[/\\]|\b(?:in|with|on|using|running|my) comfy\b|(?:^|\s)--?(?:novram|normalvram)\b|\bKSampler\b`)},
	{"demucs", lazily(`(?i)\bdemucs(?:\.separate)? [^\n]{0,80}(?:-d \w|-n \w|--dl\b|\.(?:mp3|wav|flac)\b)|[/\\]demucs[/\\](?:separate|apply)\.py|\bdemucs (?:on )?(?:my |the )?gpu\b`)},
	{"whisper", lazily(`(?i)\b(?:stable[-_])?whisper(?:x|jav)?\b|\bstable-ts\b`)},
	{"lm_eval", lazily(`(?i)\blm[-_]eval\b`)},
	// Parts and arguments of pipelines that make pictures and videos, by names that only they have:
	// https://huggingface.co/docs/diffusers/api/pipelines/overview
	{"diffusers", lazily(`\bnum_(?:images|videos)_per_prompt\b|\bAutoencoderKL\w*\.from_|\b\w+Transformer[23]DModel\b|\b(?:infer|inference|run|demo|sample|generate|test|app|gradio)\w*_(?:flux|sdxl|sd3|sd35|qwen_?image|hunyuan_?video|cogvideox?|ltx_?video|wan2\w*)\w*\.py\b`)},
	{"llama-reference", lazily(`--ckpt_dir\b[^\n]*--tokenizer_path\b`)},
}

// speakers is code of a library that is run beside Whisper, with settings of its own.
var speakers = lazily(`(?m)^\s*(?:from|import) pyannote\b`)

// kept is the part of a path that goes on to what a program keeps for itself and others, which does not tell what runs.
var kept = lazily(`(?i)[\w.-]+[/\\](?:extensions[/\\][\w.-]+[/\\])?(?:models|embeddings|outputs|checkpoints|data|downloads)[/\\]`)

// canRun is how somebody leads up to a command that works.
var canRun = lazily(`(?i)\b(?:I|we|it) can (?:run|train|start|use|finish)\b|` +
	`\b(?:it|this|that|which|the following|training) (?:command )?(?:works?|worked|runs|ran) (?:fine|well|ok|okay|without|with|using)\b|\bworks?:\s*$`)

// evaluates are options by which a script that can train is told to evaluate only.
var evaluates = lazily(`--(?:do_eval|eval_only|test_only)\b`)

// predictionsSoFar are what the Trainer of transformers calls the predictions of an evaluation, where it joins them on the GPU:
// https://github.com/huggingface/transformers/blob/v4.35.0/src/transformers/trainer.py
var predictionsSoFar = lazily(`\b(?:preds|logits|labels)_host\b|\bnested_concat\(`)

// wide is an option that asks for 32 bits.
var wide = lazily("(?:^|[\\s\"'`=])(--(?:no-half|force-fp32|full-precision|fp32|precision=full))(?:$|[\\s\"'`.,;)])")

// without is how an option is spoken of that is not in force.
var without = lazily(`(?i)\b(?:remov\w*|without|not|dropp\w*|tak\w* away|if|should|could)\b|n['’]t\b`)

// codeLine is a line that is no frame of a traceback, with what it names.
type codeLine struct {
	text    string
	scripts [][]string // as found where nothing is said to have gone through
	command string     // with what goes on in the next lines; empty for none
	options string     // its options in the next lines, where no line says that it goes on
}

// codeLines are those of a text.
func codeLines(text string) (list []codeLine) {
	for _, line := range strings.Split(continued.ReplaceAllString(text, " "), "\n") {
		if frame.MatchString(line) {
			continue
		}
		if last := len(list) - 1; last >= 0 && list[last].command != "" && onlyOptions.MatchString(line) {
			list[last].options += " " + strings.TrimSpace(line)
			continue
		}
		one := codeLine{text: line, scripts: script.FindAllStringSubmatch(passed.ReplaceAllString(line, ""), 8)}
		if at := command.FindStringSubmatch(line); at != nil {
			one.command = at[1]
		}
		list = append(list, one)
	}
	return list
}

// name puts scripts, command and tool into a context that does not know them from the log.
func name(c *sampler.LogContext, text string, all []sentence, lines []codeLine) {
	for _, s := range all { // the script that fails before those that do not
		if ranOut.MatchString(s.text) || reportsError.MatchString(s.text) {
			for _, clause := range strings.FieldsFunc(s.text, func(r rune) bool { return r == ',' || r == ':' }) {
				if reportsError.MatchString(clause) {
					addScripts(c, script.FindAllStringSubmatch(clause, 8))
				}
			}
		}
	}
	failing := len(c.Scripts) > 0 // whoever names the script that fails has said which
	runs := false                 // the words before the command that was taken say that it works
	before := ""
	for _, line := range lines {
		if !failing {
			addScripts(c, line.scripts)
		}
		before += " " + line.text
		if line.command == "" {
			continue
		}
		said := before[:len(before)-len(line.text)+strings.Index(line.text, line.command)]
		words := strings.TrimRight(strings.TrimSpace(stuck.ReplaceAllString(prose.ReplaceAllString(line.command, ""), "$1 $2")), ".")
		if c.Command == "" || strings.HasSuffix(c.Command, `\`) || runs && ranOut.MatchString(said) {
			c.Command = words
		}
		runs = c.Command == words && canRun.MatchString(said)
		if line.options != "" && (c.Command == words || c.Command == strings.TrimSpace(line.command)) {
			c.Command = strings.TrimRight(c.Command+line.options, "`")
		}
		before = ""
	}
	failingCommand(c, all, lines)
	if len(c.Functions) == 0 && evaluates.MatchString(c.Command) && !strings.Contains(c.Command, "--do_train") {
		c.Phase = sampler.PhaseValidation
	}
	if len(c.Functions) == 0 && c.Phase == "" && predictionsSoFar.MatchString(text) {
		c.Phase = sampler.PhaseValidation
	}
	if at := wide.FindStringSubmatch(text); at != nil && !slices.ContainsFunc(all, func(s sentence) bool { return wide.MatchString(s.text) && without.MatchString(s.text) }) {
		c.Told = append(c.Told, sampler.ToldOption+at[1])
	}
	if len(c.Functions) == 0 && (c.Phase == "" && loads.MatchString(text) || (c.Phase == "" || c.Phase == sampler.PhaseInference) && moves.MatchString(text)) && !uses.MatchString(text) && !slices.Contains(c.Told, sampler.ToldTraining) {
		c.Phase = sampler.PhaseLoading
	}
	text = kept.ReplaceAllString(text, "")
	if other := withoutCompared(text, all); other != text {
		if c.Server != "" && !slices.Contains(namedIn(other), c.Server) && slices.Contains(namedIn(text), c.Server) {
			c.Server = ""
		}
		text = other
	}
	for _, p := range programs {
		if c.Server == "" && !slices.Contains(c.Told, sampler.ToldTraining) && p.words.MatchString(text) && !(p.name == "whisper" && speakers.MatchString(text)) {
			c.Server = p.name
		}
	}
}

// namedIn are the programs that a text names.
func namedIn(text string) (list []string) {
	for _, p := range programs {
		if p.words.MatchString(text) {
			list = append(list, p.name)
		}
	}
	return list
}

// goesThere is a sentence by which it does not come with other programs.
var goesThere = lazily(`(?i)\b(?:do|does|did)(?:n['’]?t| not) (?:\w+ )?(?:get|have|see|hit|happen|occur|run into|oom|run out)\b[^.;,]{0,60}\b(?:in|with|on|using|under) `)

// withoutCompared is a text without the sentences that only set other programs against the one that fails.
func withoutCompared(text string, all []sentence) string {
	for _, s := range all {
		if goesThere.MatchString(s.text) {
			text = strings.ReplaceAll(text, s.text, " ")
		}
	}
	return text
}

// addScripts adds the scripts that a line names.
func addScripts(c *sampler.LogContext, found [][]string) {
	for _, at := range found {
		if !slices.Contains(c.Scripts, at[1]) && len(c.Scripts) < 8 {
			c.Scripts = append(c.Scripts, at[1])
		}
	}
}
