package oomlog

import (
	"strings"

	"nvpeak/sampler"
)

type phaseRow struct {
	phase string
	ways
}

// phaseFunctions tell the phase from the name of a function in a traceback.
var phaseFunctions = []phaseRow{
	{sampler.PhaseTraining, anyOf(`(?i)`, `^_?train\w*_and_(?:eval\w*|val\w*|test\w*)$`)}, // one that does both, and calls another for the second
	{"", anyOf(`(?i)`, `^_?validate_(?:\w+_)?(?:args?|arguments|kwargs|inputs?|config\w*|options|settings|shapes?|d?types?|param(?:eter)?s?|sample|schema|request|env|environment|devices?|paths?|files?)$`,
		`^_?eval(?:uate)?_(?:\w+_)?(?:kernels?|residuals?|jaxpr\w*|frame|expr\w*|gradients?|jacobian|hessian|integra(?:l|nd)s?|polynomials?|splines?|basis|fields?|potentials?|energ(?:y|ies)|forces?|rhs)$`)}, // what is checked, or computed, is no model
	{sampler.PhaseValidation, validationLoops},
	{sampler.PhaseValidation, anyOf(`(?i)`, `^_?(?:(?:run|do|perform)_)?(?:validate|validation|evaluate|eval|val|valid|test|zero_?shot|linear_probe|knn)(?:$|_|\b)|compute_\w*metric|`+
		`_(?:evaluat(?:e|ion)|validat(?:e|ion))$|`+
		`^_?(?:compute|calc(?:ulate)?|get|eval\w*|run)_(?:\w+_)?(?:fid|kid|inception_score|clip_score|mAP|miou|bleu|rouge|wer|cer)(?:_|$)`,
		`^_?(?:decode|transcribe|generate|translate|infer|predict|score|caption|answer)_(?:on_)?(?:the_)?(?:dev|val|valid|validation|eval|test)(?:_?set)?(?:_|$)`,
		`^_?loglikelihood(?:_rolling|_tokens)?$|^generate_until$|^simple_evaluate$`)}, // of lm-evaluation-harness, also from within a training
	{"", anyOf(`(?i)`, `^_?save_(?:hook|act(?:ivations?)?|hidden\w*|outputs?|features?|intermediates?|for_backward|tensors?_?hooks?)(?:_|$)`)}, // what is kept in memory is no checkpoint
	{sampler.PhaseSaving, anyOf(`(?i)`, `^_?save|_save(?:_|$)|save_(?:checkpoint|model|pretrained|state)|full_state_dict|get_state_dict|consolidate`)},
	{"", anyOf(`(?i)`, `^_?(?:load|read)_(?:videos?|images?|imgs?|pictures?|frames?|audios?|wavs?|data|dataset|samples?|annotations?|csv|text|texts|files?)(?:_|$)`)}, // what is loaded is no model
	{sampler.PhaseInference, anyOf(`(?i)`, `^_?(?:extract|export)_mesh(?:_|$)`)},                                                                                      // of what was fitted
	{sampler.PhaseLoading, anyOf(`(?i)`, `^_?load(?:_|$)|from_pretrained|load_(?:state_dict|checkpoint|model|weights|pipeline|diffusion)|_load_|init_worker|init_device|^get_model|^build_model|`+
		`initialize_model|prepare_model|init_model|^load\w*$|determine_num_available_blocks|profile_run|capture_model|warm_?up`)},
	{"", anyOf(`(?i)`, `^_?(?:generate|sample)_(?:qkv|anchors?|proposals?|grids?|rays?|noise|targets?|labels?|(?:\w+_)?masks?|(?:relative_)?positions?|negatives?)$`)}, // a step of a forward pass, in training too
	{sampler.PhaseTraining, anyOf(`(?i)`, `^_?(?:inner_)?train(?:$|_|ing)|^fit(?:$|_)|backward|(?:^|_)train_(?:step|epoch|batch|one_epoch|loop|iter)|training_step|optimizer_step|^do_train|^run_step$|^training`)},
	{sampler.PhaseInference, anyOf(`(?i)`, `^_?(?:generate|predict|inference|infer|sample|process_images|txt2img|img2img|decode|transcribe|run_inference)(?:$|_|\b)|[a-z]_inference$|`+
		`^propagate_in_video|execute_model|vae_decode|decode_first_stage`)},
}

// validationLoops are names that nothing else has, in whatever file.
var validationLoops = anyOf(`(?i)`, `(?:^|_)(?:val|valid|validation|eval|evaluation|test)_(?:step|epoch|loop|one_epoch|model|iter)|(?:evaluation|prediction)_loop|^(?:single|multi)_gpu_test|^_do_eval$|^inference_on_dataset$|^_fit_valid$|^evaluate_batch$`)

// phaseLines tell it from the lines just before a failure.
var phaseLines = []phaseRow{
	{"", anyOf(`(?i)`, `\b(?:abort\w*|interrupt\w*|exiting|stopping|terminating)(?:,| and|;|:|\.| -)? (?:now )?saving\b`, `\bsaving\b.{0,50}\b(?:before|then|and) (?:exit|abort|quit|stopp|terminat)\w*`)},                                                                                                                                          // a library's farewell: it saves because it fails
	{"", anyOf(`(?i)`, `\b(?:et[ch]+ash|light cache|DAG|Difficulty)\b|\bnew job\b`, `\bwgpu error: validation error\b`, `/train-[\w.-]+/`, `\bdata(?:sets?)?[/\\](?:[\w.-]+[/\\])?train\w*[/\\.]`, `^\W*(?:ln|cp|mv|wget) \S`, `\bloading train(?:ing)? (?:cameras|views|images|pictures)\b`, `\b(?:validation|evaluation) (?:period|deadline)\b`)}, // the epochs of miners, an API that looks at its arguments, a folder, what is rendered too, a time
	{"", anyOf(`(?i)`, `(?:evaluat\w*|validat\w*)\.py["”'],? line \d+,? in <module>`, `^\s*(?:from|import) [\w.]*(?:evaluat|validat)\w*`)},                                                                                                                                                                                                          // a module that is only imported
	{sampler.PhaseSaving, anyOf(`(?i)`, `_state_dict_utils\.py`, `\bFailed to clone\(\) tensor .{0,300}state_dict`, `\bsaving\b.{0,40}(?:checkpoint|model|weights|state)`,
		`\btraining (?:(?:is|has|was) )?(?:done|finished|complete|completed|over|ended)\b.{0,20}\b(?:export|convert|quanti[sz]|merg|sav)(?:e|ing|es)?\b`)},
	{sampler.PhaseLoading, anyOf(`(?i)`, `\bloading\b.{0,40}(?:checkpoint|model|weights|shards|pipeline)|\bmodel \S{1,60} could not be loaded\b|llama_model_load|llm_load_tensors|load_tensors:`)},
	{sampler.PhaseValidation, anyOf(`(?i)`, `^\W{0,3}\[(?:val|valid|eval)\]|\b(?:(?:validating|validation|evaluating|evaluation)(?:[^\w=-]|$)|val:|eval:|`+
		`(?:computing|calculating) (?:the )?(?:FID|KID|mAP|mIoU|BLEU|ROUGE|WER|CER|metrics)\b|decoding (?:the |\d+ )?(?:dev|valid|validation|eval|test)\b|run(?:ning)? (?:the |a )?(?:final|last) test\b|start(?:ing|ed)? (?:the )?(?:final )?testing\b|`+
		`epoch \(val(?:id)?\)|Class\s+Images\s+(?:Instances|Labels))`)},
	{"", anyOf(`(?i)`, `^\W*(?:[\w ]{1,16}\W{1,5})?training (?:(?:is|has|was) )?(?:finished|done|completed?|over|ended)\W*$`, `\bafter (?:the )?training (?:(?:is|has|was) )?(?:finished|done|completed?|over|ended)\b`)}, // what comes then is none
	{sampler.PhaseTraining, anyOf(`(?i)`, `\btrain(?:ing)?\b`, `(?:^|[^-\w])epoch\b`, `^\s*\d+/\d+\s+[\d.]+G\b`)},
	{sampler.PhaseInference, anyOf(`(?i)`, `\b(?:generating|inference|sampling|predicting|prompt executed|could not predict|start(?:ing|ed)? predictions?|predicted structure)\b`)},
}

// phaseOf is the phase that a function's name tells, without that of its class; empty for most.
func phaseOf(function string) string {
	text := &whole{text: function[strings.LastIndexByte(function, '.')+1:]}
	defer text.done()
	return phaseIn(phaseFunctions, text.all())
}

// isLoop: it is a step of a validation, by its name alone.
func isLoop(function string) bool {
	text := &whole{text: function}
	defer text.done()
	return validationLoops.in(text.all())
}

// phaseOfLine is the phase that a line tells; empty for most.
func phaseOfLine(text part) string { return phaseIn(phaseLines, text) }

func phaseIn(rows []phaseRow, text part) string {
	for i := range rows {
		if r := &rows[i]; r.in(text) {
			return r.phase
		}
	}
	return ""
}
