package explain

import (
	"strings"

	"nvpeak/advice/command"
	"nvpeak/sampler"
)

var fixesLeak = []fixRow{
	{id: FixLeak, source: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		kinds: ownCode | imageTool, cost: 0.03,
		lives: map[string]float64{CauseLeak: 0.98, CauseHostMemory: 0.97},
		when: func(f *failure) bool {
			return f.ownLines() && !(f.compiled() && f.onHost()) && !f.splats() && !f.groupsPile() && !f.keepsResults() && !f.keepsOutputs() && (!f.onHost() || f.hostGrew() || f.told(sampler.ToldGrowth) && f.workersMayNot() || f.told(sampler.ToldLate) && !f.told(sampler.ToldLoader) || f.told(sampler.ToldReplay))
		},
		reach: always(1),
		saves: func(f *failure) (span, bool) {
			first, last, steady := f.growth()
			if !steady || f.onHost() {
				return span{}, false
			}
			return span{partOf(sampler.Bytes(last-first), 0.5), sampler.Bytes(last - first)}, true
		},
		variant: func(f *failure) string {
			switch {
			case f.told(sampler.ToldReplay) && f.onHost():
				return "replay_host"
			case f.told(sampler.ToldReplay):
				return "replay"
			case f.workersMayGrow():
				return "host_any"
			case f.onHost():
				return "host"
			case f.native():
				return "native"
			case f.program.is(running) || f.arrays() && !f.program.is(training) || f.told(sampler.ToldTables):
				return "running"
			case f.graphGoesOn():
				return "kept_graph"
			case f.told(sampler.ToldGraph) && !f.numbers():
				return "graph"
			}
			return ""
		},
		do: doFixLeak},
	{id: FixLeak, source: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		kinds: imageTool, cost: 0.03,
		lives:   map[string]float64{CauseLeak: 0.97, CauseHostMemory: 0.95},
		when:    func(f *failure) bool { return (f.told(sampler.ToldGrowth) || f.seenGrowing()) && !f.ownLines() },
		reach:   always(1),
		variant: func(f *failure) string { return "tool" },
		do:      doBetweenJobs},
	{id: FixLeak, source: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		kinds: ownCode, cost: 0.02,
		lives:   map[string]float64{CauseLeak: 0.97, CauseUnknown: 0.7, CauseTooBig: 0.5},
		when:    func(f *failure) bool { return f.leftByFirst() },
		reach:   always(1.1),
		variant: func(f *failure) string { return "first" },
		do: func(f *failure) []string {
			return []string{f.comment("do.process_each_input"), f.comment("do.drop_models")}
		}},
	{id: FixLeak, source: "https://github.com/huggingface/sentence-transformers/issues/522",
		kinds: ownCode, cost: 0.02,
		lives:   map[string]float64{CauseLeak: 0.98, CauseUnknown: 0.7, CauseTooBig: 0.6},
		when:    func(f *failure) bool { return f.keepsOutputs() || f.predictsAll() },
		reach:   always(1),
		variant: func(f *failure) string { return "outputs" },
		do: func(f *failure) []string {
			if f.predictsAll() {
				return []string{f.comment("do.say.predict_parts"), f.comment("do.results_version")}
			}
			return []string{f.comment("do.outputs_cpu"), f.comment("do.outputs_pieces")}
		}},
	{id: FixLeak, source: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		kinds: ownCode, cost: 0.02,
		lives: map[string]float64{CauseLeak: 0.95, CauseUnknown: 0.62, CauseTooBig: 0.3},
		when: func(f *failure) bool {
			return (f.fillsAnyGPU() || f.keptFromFirst() && f.program.is(undecided)) && !f.graphOff()
		},
		reach:   always(1),
		variant: func(f *failure) string { return "kept" },
		do: func(f *failure) []string {
			return append(doNoGrad(f), "scores = scores.detach()  "+f.comment("do.kept"))
		}},
	{id: FixLeak, source: "https://huggingface.co/docs/transformers/main_classes/trainer",
		kinds: ownCode, cost: 0.03,
		lives: map[string]float64{CauseLeak: 0.95, CauseValidationSpike: 0.96},
		when: func(f *failure) bool {
			_, piles := f.piles()
			return piles || f.resultsPile() || f.joinsAll() || f.keepsResults() && !f.growsByDesign()
		},
		reach: func(f *failure) float64 {
			if f.inTrainerEvaluation() && !f.joinsPredictions() && f.inFunction("generate", "beam_search") {
				return 0.5 // what it keeps are numbers of tokens; keys and values follow batch, beams and length
			}
			if f.inTrainerEvaluation() && !f.joinsPredictions() && f.bigRequest() {
				return 0.85 // the batch itself may be too large
			}
			return 1
		},
		variant: func(f *failure) string {
			if f.expected {
				return "results_expected" // an alert knows that something comes again, not that it is a validation
			}
			return "results"
		},
		do: func(f *failure) []string {
			if f.inTrainerEvaluation() && !f.command.Known {
				return []string{"TrainingArguments(…, eval_accumulation_steps=8)", "Trainer(…, preprocess_logits_for_metrics=lambda logits, labels: logits.argmax(-1))  " + f.comment("do.or"),
					"Seq2SeqTrainingArguments(…, predict_with_generate=True)  " + f.comment("do.tokens_kept")}
			}
			if text, ok := f.command.WithAtMost("--eval_accumulation_steps", 8); ok && f.command.Style() == command.StyleTrainer {
				return []string{text}
			}
			return []string{"outputs.append(out.detach().cpu())  " + f.comment("do.results")}
		}},
}

func doFixLeak(f *failure) []string {
	switch {
	case f.told(sampler.ToldReplay) && f.onHost():
		return []string{f.comment("do.smaller_replay"), f.comment("do.replay_bytes")}
	case f.told(sampler.ToldReplay):
		return []string{"self.memory.append(x.cpu())  " + f.comment("do.replay_cpu"), f.comment("do.smaller_replay")}
	case f.event.Framework == "tensorflow" || f.shows(sampler.ShowsOldTF):
		return []string{"tf.keras.backend.clear_session()  " + f.comment("do.after_model"), f.comment("do.watch_memory")}
	case f.onHost() && collectors[f.language()] != "":
		collector, _, _ := strings.Cut(collectors[f.language()], ";") // what is behind it is of the GPU
		return []string{collector, f.comment("do.watch_memory")}
	case f.workersMayGrow():
		return []string{"losses.append(loss.item())  " + f.comment("do.host_item"), f.comment("do.worker_arrays"), "import tracemalloc; tracemalloc.start()  " + f.comment("do.tracemalloc")}
	case f.onHost():
		return []string{"losses.append(loss.item())  " + f.comment("do.host_item"), f.watchesRAM()}
	case f.native():
		return []string{f.comment("do.free_buffers"), f.comment("do.memcheck")}
	case f.told(sampler.ToldTables):
		return []string{"results.append(part.to_pandas())  " + f.comment("do.detach_array"), f.comment("do.free_between"), f.comment("do.watch_memory")}
	case f.event.Kind == sampler.KindCuPy:
		return []string{"results.append(cupy.asnumpy(out))  " + f.comment("do.detach_array"), f.comment("do.free_between") + "\ncupy.get_default_memory_pool().free_all_blocks()", f.comment("do.watch_memory")}
	case f.event.Kind == sampler.KindXLA && !f.program.is(training):
		return []string{"results.append(jax.device_get(out))  " + f.comment("do.detach_array"), f.comment("do.free_between"), f.comment("do.watch_memory")}
	case !f.torchCode():
		return []string{f.comment("do.watch_memory"), f.comment("do.free_objects")}
	case f.told(sampler.ToldCulprit) && f.told(sampler.ToldGrowth):
		return []string{f.comment("do.level_without"), "pip install --upgrade torch  " + f.comment("do.fixed_newer"), f.comment("do.watch_memory")}
	case f.graphGoesOn():
		return []string{"first_loss = loss.detach()  " + f.comment("do.detach_state"), f.comment("do.retain_graph")}
	case f.told(sampler.ToldGraph) && !f.numbers() && !f.program.is(running):
		return []string{"sum(losses).backward()  " + f.comment("do.one_backward"), "torch.utils.checkpoint.checkpoint(chunk_loss, x, use_reentrant=False)  " + f.comment("do.each_chunk")}
	case f.program.is(running):
		lines := []string{"with torch.no_grad():  " + f.comment("do.around_forward"), "outputs.append(out.detach().cpu())  " + f.comment("do.detach"),
			`print(torch.cuda.memory_allocated() / 2**30)  ` + f.comment("do.watch_request"), f.comment("do.free_between")}
		if f.only() {
			lines = append(lines, f.comment("do.restart_between"))
		}
		if f.graphOff() {
			return lines[1:]
		}
		return lines
	}
	return []string{"total_loss += loss.item()  " + f.comment("do.item"), "outputs.append(out.detach().cpu())  " + f.comment("do.detach"),
		`print(epoch, torch.cuda.memory_allocated() / 2**30)  ` + f.comment("do.watch")}
}

// watchesRAM is how to see what is kept in RAM. Where PyTorch was refused it are tensors, which Python's own tracing does not see.
func (f *failure) watchesRAM() string {
	if f.event.Framework == "pytorch" && f.event.Kind == sampler.KindHostAlloc {
		return "print(sum(t.numel() * t.element_size() for t in gc.get_objects() if torch.is_tensor(t)) / 2**30)  " + f.comment("do.tensors_kept")
	}
	return "import tracemalloc; tracemalloc.start()  " + f.comment("do.tracemalloc")
}
