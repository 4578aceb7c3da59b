package explain

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"nvpeak/sampler"
)

// What a program works on, and what its log prints of it, decides where the course of its memory alone does not.
func TestRecordedPrograms(t *testing.T) {
	levels := func(gib ...float64) (list []sampler.Bytes) {
		for _, g := range gib {
			list = append(list, gibs(g).Or(0))
		}
		return list
	}
	flat := levels(19, 19, 19, 19, 19, 19, 31, 31, 31, 31, 31, 31)
	stairs := levels(10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15)
	alike := levels(3.7, 3.7, 3.7, 3.7, 3.7, 3.7, 3.7)
	var actors []Neighbor
	for i := range 15 {
		actors = append(actors, Neighbor{PID: 100 + i, Bytes: gibs(0.4).Or(0), Name: "python", Command: fmt.Sprintf("python -m impala.actor --id %d --attempt %d", i%6, i/6), Arrived: i > 5})
	}
	evaluated := levels(15.4, 15.4, 15.4, 23.6, 20.6, 15, 15, 15, 23.6, 22.6, 15, 15, 15, 23.6, 15, 15, 15, 23.6)
	for what, row := range map[string]struct {
		command                                   string
		total, need, free, allocated, unallocated float64
		history                                   History
		context                                   sampler.LogContext
		change                                    func(*sampler.OOMEvent)
		cause, fix, not                           string // not: a fix that makes no sense there
	}{
		"pictures that stay on the GPU": {"python frames.py --prompts a.txt", 15.7, 1, 0.2, 14, 1.2, History{Peaks: stairs},
			sampler.LogContext{Server: "diffusers", Functions: []string{"<module>", "render", "forward"}}, nil, CauseLeak, FixLeak, FixHalveBatchAccumulate},
		"embeddings that do": {"python extract.py", 23.7, 0.1, 0.05, 22.6, 0.4, History{Peaks: levels(10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23)},
			sampler.LogContext{Functions: []string{"<module>", "forward"}}, nil, CauseLeak, FixLeak, ""},
		"a key of a table that explodes": {"python join.py", 24, 0, 2.5, 0, 0, History{Total: gibs(24), Free: gibs(2.5), Peaks: levels(5, 18, 17, 14, 15, 19, 14, 16, 17, 12, 17, 18), Kept: alike},
			sampler.LogContext{Told: []string{sampler.ToldTables}, Functions: []string{"<module>", "merge"}}, func(e *sampler.OOMEvent) {
				*e = sampler.OOMEvent{Framework: "rmm", Kind: sampler.KindRMM, MemoryKind: sampler.MemoryGPU, Text: "std::bad_alloc: out_of_memory", Context: e.Context}
			}, CauseDataSpike, FixCapSampleSize, ""},
		"a pool that the first batch fills": {"python fit.py --batch-size 64", 0, 0.2, 0, 0, 0, History{Total: gibs(16), Free: gibs(0.8), Process: gibs(15)},
			sampler.LogContext{Phase: sampler.PhaseTraining, FirstStep: true, Epoch: sampler.Some(1), PoolLimit: gibs(14.5)}, func(e *sampler.OOMEvent) {
				*e = sampler.OOMEvent{Framework: "tensorflow", Kind: sampler.KindTensorFlow, MemoryKind: sampler.MemoryGPU, Requested: gibs(0.2), Context: e.Context, Text: "OOM when allocating tensor", Extra: map[string]any{"shape": []int{64, 24, 228, 228}}}
			}, CauseTooBig, FixHalveBatchAccumulate, FixRaiseLimit},
		"a pool, in a later epoch": {"python fit.py --batch-size 64", 0, 1.2, 0, 0, 0, History{Total: gibs(16), Free: gibs(2.8), Process: gibs(13)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Epoch: sampler.Some(4)}, func(e *sampler.OOMEvent) {
				*e = sampler.OOMEvent{Framework: "tensorflow", Kind: sampler.KindTensorFlow, MemoryKind: sampler.MemoryGPU, Requested: gibs(1.2), Context: e.Context, Text: "OOM when allocating tensor", Extra: map[string]any{"shape": []int{64, 24, 456, 456}}}
			}, CauseDataSpike, FixCapSampleSize, FixRaiseLimit},
		"an arena that asks for the next power of two": {"python serve_onnx.py", 0, 0.5, 0, 0, 0, History{Total: gibs(16), Free: gibs(0.8), Process: gibs(15)},
			sampler.LogContext{}, func(e *sampler.OOMEvent) {
				*e = sampler.OOMEvent{Framework: "onnxruntime", Kind: sampler.KindORT, MemoryKind: sampler.MemoryGPU, Requested: gibs(0.5), Context: e.Context, Text: "Failed to allocate memory for requested buffer of size 536870912"}
			}, CauseTooBig, FixSmallerInput, FixRaiseLimit},
		"one prediction of a volume, with all its classes": {"python -m monai.bundle run training", 23.7, 7.5, 5.4, 17.2, 0.7, History{Peaks: levels(12.8, 12.8, 12.8, 12.8, 21, 15.8, 22)},
			sampler.LogContext{Phase: sampler.PhaseValidation, Epoch: sampler.Some(6), Functions: []string{"_run_once_on_dataset", "_postprocessing", "__call__", "one_hot"}, Files: []string{"ignite/engine/engine.py", "monai/engines/utils.py", "monai/transforms/post/array.py"}},
			nil, CauseValidationSpike, FixCapSampleSize, FixHalveBatchAccumulate},
		"masks that are pasted": {"python detect.py --images in", 15.8, 2.5, 1.5, 13, 0.9, History{Peaks: levels(6, 6, 6, 6, 6, 6, 6, 6)},
			sampler.LogContext{Functions: []string{"<module>", "predict", "paste_masks_in_image"}}, nil, CauseDataSpike, FixCapSampleSize, ""},
		"inputs that get longer": {"python fold.py --fasta sorted.fa", 39.4, 12, 9, 18.6, 11.3, History{Peaks: levels(30, 38, 38.8, 36, 36, 35, 37, 36, 38, 38, 39.3, 36, 37, 38, 38, 31, 32, 33, 39)},
			sampler.LogContext{Larger: &sampler.SizeGrowth{Name: "length", From: 87, To: 858}, Functions: []string{"<module>", "forward"}, Code: []string{"out = model.infer(seqs)"}, Files: []string{"w/fold.py", "esm/block.py"}},
			nil, CauseDataSpike, FixCapSampleSize, ""},
		"a task with longer documents": {"lm_eval --model hf --model_args pretrained=m,dtype=bfloat16 --tasks a,b --batch_size 16", 44.5, 13, 8, 34.7, 1.3, History{Peaks: flat},
			sampler.LogContext{Server: "lm_eval", Phase: sampler.PhaseValidation, Step: sampler.Some(3344), Functions: []string{"cli_evaluate", "evaluate", "_loglikelihood_tokens", "log_softmax"}},
			nil, CauseDataSpike, FixHalveBatchAccumulate, FixShrinkValidationBatch},
		"states fill the GPU once the optimizer has stepped": {"deepspeed --num_gpus 2 ft.py --deepspeed z2.json --per_device_train_batch_size 2 --bf16 True --gradient_checkpointing True", 79.1, 0.25, 0.13, 76.1, 2.3,
			History{Age: sampler.Some(80.0), Peaks: levels(5, 17, 30, 43, 60, 77)},
			sampler.LogContext{Phase: sampler.PhaseTraining, FirstStep: true, Step: sampler.Some(0), Functions: []string{"train", "training_step", "forward"}}, nil, CauseTooBig, FixShardOrOffload, FixHalveBatchAccumulate},
		"a large batch does, though blocks are computed again": {"python ft.py --per_device_train_batch_size 32 --bf16 True --gradient_checkpointing True", 79.1, 0.25, 0.13, 76.1, 2.3,
			History{Age: sampler.Some(80.0), Peaks: levels(5, 17, 30, 43, 60, 77)},
			sampler.LogContext{Phase: sampler.PhaseTraining, FirstStep: true, Step: sampler.Some(0), Functions: []string{"train", "training_step", "forward"}}, nil, CauseTooBig, FixHalveBatchAccumulate, ""},
		"the model of each trial is kept": {"python tune.py --n-trials 100", 23.65, 0.12, 0.1, 22.3, 0.8, History{Peaks: levels(10, 11.2, 11.2, 11.8, 12, 12, 12, 12, 12, 15.6, 15.6, 15.6, 18.4, 18.4, 18.4, 18.5, 18.5, 21, 21, 21, 21, 21, 21, 21.3, 21.3, 21.3)},
			sampler.LogContext{Functions: []string{"objective", "forward"}}, nil, CauseLeak, FixLeak, ""},
		"tensors had held more before": {"python train.py --batch-size 4", 23.7, 0.18, 0.15, 20.3, 3, History{Peaks: levels(19, 20.5, 20.5, 21, 21.5, 22, 22, 22.5, 23, 23.2, 23.4, 23.5), Kept: levels(9, 12, 13, 16, 17, 18, 19.5)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(1486), MostAllocated: gibs(22), GPUMemory: levels(19, 19.4, 20, 20.5, 21, 21.5, 22), Functions: []string{"main", "forward"}},
			nil, CauseFragmentation, FixExpandableSegments, ""},
		"a metric that keeps all it has seen": {"python fit.py --bs 4", 15.7, 3.1, 0.8, 11.4, 3.2, History{Peaks: levels(7, 7.1, 8, 8.1, 8.2, 10, 10.1, 10.2, 12.9, 13, 13.1, 13.1, 15, 10.6, 10.6, 15.2, 15.3, 15.3, 15.4, 15.6, 10.9)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Epoch: sampler.Some(6), Functions: []string{"fit", "on_train_epoch_end", "compute", "dim_zero_cat"}, Code: []string{"return torch.cat(x, dim=0)"}}, nil, CauseLeak, FixLeak, ""},
		"a pool that doubles in each part of a search": {"TF_FORCE_GPU_ALLOW_GROWTH=true python tune.py --batch 64", 0, 0.9, 0, 0, 0, History{Total: gibs(24), Free: gibs(0), Process: gibs(23.7), Peaks: levels(4, 8, 8, 8, 8, 8, 8, 8, 8, 8, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 23.7, 23.7, 23.7, 23.7)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Epoch: sampler.Some(4)}, func(e *sampler.OOMEvent) {
				*e = sampler.OOMEvent{Framework: "tensorflow", Kind: sampler.KindTensorFlow, MemoryKind: sampler.MemoryGPU, Requested: gibs(0.9), Context: e.Context, Text: "OOM when allocating tensor", Extra: map[string]any{"shape": []int{58555, 4096}}}
			}, CauseLeak, FixLeak, ""},
		"a server that climbs and gives nothing back": {"python serve.py --port 8100", 45, 0.93, 0.26, 40.7, 3.1, History{Peaks: levels(38.3, 38.3, 38.3, 38.3, 38.3, 39.3, 39.3, 40.3, 40.3, 40.3, 43.2, 43.2, 43.2, 43.2, 43.2, 43.2, 44.2)},
			sampler.LogContext{Phase: sampler.PhaseInference, Functions: []string{"main", "generate", "forward"}}, nil, CauseLeak, FixLeak, ""},
		"a server that climbed once": {"python serve.py --port 8100", 45, 0.93, 0.26, 40.7, 3.1, History{Peaks: levels(38.3, 38.3, 38.3, 38.3, 38.3, 44.2, 44.2, 44.2, 44.2, 44.2, 44.2, 44.2, 44.2, 44.2, 44.2, 44.2, 44.2)},
			sampler.LogContext{Phase: sampler.PhaseInference, Functions: []string{"main", "generate", "forward"}}, nil, CauseFragmentation, FixExpandableSegments, ""},
		"pieces keep a picture out that is no larger than others": {"python serve.py --port 9100", 9.8, 1, 0.7, 6.2, 2.6, History{Peaks: levels(8.4, 8.5, 8.6, 8.4, 8.5, 8.6, 8.4, 8.5)},
			sampler.LogContext{Functions: []string{"worker", "enhance", "forward"}}, nil, CauseFragmentation, FixExpandableSegments, ""},
		"the end of a training merges what it has trained": {"python train_qlora.py --batch 2", 22, 0.18, 0.07, 20.2, 1.4, History{Peaks: levels(15.6, 15.6, 15.6, 15.6, 15.6, 15.6, 15.6)},
			sampler.LogContext{Phase: sampler.PhaseSaving, Step: sampler.Some(32), Functions: []string{"<module>", "save_merged", "_merge_lora"}}, nil, CauseTooBig, FixShardOrOffload, ""},
		"a resumed run dies at once, with pieces": {"python train.py --batch_size=8", 15.7, 0.7, 0.6, 13.7, 1.2, History{Age: sampler.Some(21.0), Peaks: levels(1, 11.8)},
			sampler.LogContext{Phase: sampler.PhaseTraining, BatchSize: sampler.Some(8), Functions: []string{"main", "cross_entropy"}}, nil, CauseTooBig, FixHalveBatchAccumulate, ""},
		"environments with cameras": {"python train.py --task Lift --num_envs 8192", 31.6, 2.2, 0.9, 21.5, 0, History{Age: sampler.Some(50.0), Peaks: levels(9, 9, 20)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Functions: []string{"learn", "update", "act"}, Files: []string{"rsl_rl/ppo.py"}}, nil, CauseTooBig, FixHalveBatchAccumulate, ""},
		"a script that samples neighbors and trains": {"python gat_sampling.py --batch-size 1024 --num-epochs 100", 44.5, 9.9, 3.2, 40.9, 0, History{Peaks: levels(20, 20, 20, 20, 38)},
			sampler.LogContext{Phase: sampler.PhaseValidation, Epoch: sampler.Some(3), Functions: []string{"evaluate", "decorate_context", "inference", "forward"}}, nil, CauseValidationSpike, FixShrinkValidationBatch, FixHalfPrecision},
		"beams in an evaluation": {"python run_summarization.py --per_device_train_batch_size 8 --per_device_eval_batch_size 16 --predict_with_generate", 23.7, 1.02, 1.01, 16.9, 5.4, History{Peaks: levels(14, 14, 19, 14, 14, 19)},
			sampler.LogContext{Phase: sampler.PhaseValidation, Step: sampler.Some(800), Functions: []string{"train", "evaluate", "prediction_step", "generate", "_beam_search"}, Files: []string{"transformers/trainer.py"}}, nil, CauseValidationSpike, FixShrinkValidationBatch, ""},
		"the map of a whole scan": {"python main.py --max_epochs=50 --batch_size=1", 11.9, 1.7, 0.2, 6.7, 4.7, History{Peaks: levels(8, 8, 8, 8, 11)},
			sampler.LogContext{Phase: sampler.PhaseValidation, Epoch: sampler.Some(3), Functions: []string{"run_training", "val_epoch", "sliding_window_inference"}}, nil, CauseValidationSpike, FixCapSampleSize, ""},
		"pieces went beyond what tensors hold": {"python train.py --batch_size 2", 11.8, 0.32, 0.05, 8.6, 2.8, History{Peaks: levels(10.2, 10.1, 10.3, 10.2, 10.3, 10.2, 10.1, 10.3)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(1158), Functions: []string{"main", "forward"}}, nil, CauseFragmentation, FixExpandableSegments, ""},
		"one large tensor of several, which packed would just fit": {"python sft.py --per_device_train_batch_size 2", 15.7, 3.25, 2.98, 11.1, 1.3, History{Peaks: levels(11, 11.5, 11.3, 12.6, 12.2, 12.6)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(150), Functions: []string{"train", "compute_loss", "forward"}}, nil, CauseDataSpike, FixCapSampleSize, ""},
		"gaussians that are added as it trains": {"python train.py -s data --iterations 30000", 11.7, 1.3, 1.3, 9.4, 0.7, History{Peaks: levels(4, 4.6, 5.2, 5.8, 6.4, 7, 7.6, 8.2, 8.8, 9.4, 10, 10.3)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(13200), Functions: []string{"training", "rasterize_gaussians"}}, nil, CauseTooBig, FixSmallerInput, FixLeak},
		"graphs for second derivatives": {"python hvp.py --bs 64", 10.9, 0.02, 0, 8.7, 2, History{Age: sampler.Some(38.0), Peaks: levels(3, 9)},
			sampler.LogContext{Functions: []string{"hessian_vector_product", "grad"}, Code: []string{"grads = torch.autograd.grad(loss, params, create_graph=True)"}}, nil, CauseLeak, FixLeak, ""},
		"a node with very many neighbors": {"python gat.py --neighbors -1 -1 --batch 512", 11.8, 1.6, 0.8, 9, 1.5, History{Peaks: flat},
			sampler.LogContext{Phase: sampler.PhaseTraining, Epoch: sampler.Some(1), Functions: []string{"<module>", "backward"}, Code: []string{"loss.backward()"}}, nil, CauseDataSpike, FixCapSampleSize, ""},
		"neighbors with a limit": {"python gat.py --neighbors 10 10 --batch 512", 11.8, 1.6, 0.8, 9, 1.5, History{Peaks: flat},
			sampler.LogContext{Phase: sampler.PhaseTraining, Epoch: sampler.Some(1), Functions: []string{"<module>", "backward"}, Code: []string{"loss.backward()"}}, nil, CauseDataSpike, FixCapSampleSize, ""},
		"masks of one picture that are compared": {"python seg.py --batch-size 6", 23.7, 14, 13.7, 4.2, 5.4, History{Peaks: flat},
			sampler.LogContext{Phase: sampler.PhaseValidation, Epoch: sampler.Some(8), Functions: []string{"<module>", "evaluate", "match", "mask_iou"}}, nil, CauseValidationSpike, FixCapSampleSize, ""},
		"averaged weights and samples of the first rank": {"torchrun --nproc_per_node=2 ddpm.py --batch 12", 23.7, 0.25, 0.2, 21.2, 1.8, History{Peaks: flat},
			sampler.LogContext{Phase: sampler.PhaseValidation, Told: []string{sampler.ToldShows + sampler.ShowsRanks}, Functions: []string{"main", "sample_grid", "forward"}, Code: []string{"if rank == 0 and step % 500 == 0: sample_grid(ema_model, 64)", "x = ema_model(x, t)"}}, nil, CauseImbalance, FixRebalanceRanks, ""},
		"models that the first rank loads to judge": {"accelerate launch --num_processes 2 t2i.py --bs 16", 23.6, 9.6, 6.5, 13.2, 3.2, History{Peaks: flat},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(350), Functions: []string{"<module>", "main", "score_all"}, Code: []string{"if accelerator.is_main_process: scores = score_all(x)", `nets = {m: load_scorer(m).to("cuda") for m in names}`}}, nil, CauseImbalance, FixRebalanceRanks, ""},
		"samples that the first rank draws with all weights": {"torchrun --nproc_per_node 4 fsdp.py --sample-every 280", 31.4, 0.25, 0.2, 29.8, 0.6, History{Peaks: levels(15, 17, 15, 15, 19, 15, 21, 15, 23, 15, 25, 15, 27, 15, 29), PeerPeaks: levels(15, 15, 15)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(1959), Functions: []string{"<module>", "main", "draw"}, Code: []string{"main(args)", "draw(model, vae)", "z = diffusion.p_sample_loop(model.forward_with_cfg, z.shape, z)"}}, ofRank(0), CauseImbalance, FixRebalanceRanks, FixHalveBatchAccumulate},
		"samples that any rank may draw": {"torchrun --nproc_per_node 4 fsdp.py --sample-every 280", 31.4, 0.25, 0.2, 29.8, 0.6, History{Peaks: flat},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(1959), Functions: []string{"<module>", "main", "draw"}, Code: []string{"main(args)", "draw(model, vae)", "z = diffusion.p_sample_loop(model.forward_with_cfg, z.shape, z)"}}, ofRank(0), CauseValidationSpike, FixShrinkValidationBatch, FixHalveBatchAccumulate},
		"an evaluation that JAX has compiled": {"python3 -m MaxText.train base.yml per_device_batch_size=4 eval_interval=677 eval_per_device_batch_size=16", 0, 78, 0, 0, 0, History{Total: gibs(95), Free: gibs(30), Process: gibs(28.5), Peaks: levels(28.5, 28.5, 28.5, 28.5, 28.5)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(670), Functions: []string{"<module>", "train_loop"}, Code: []string{"app.run(main)", "eval_metrics = p_eval_step(state, eval_batch, nextrng)"}}, ofJAX(78, nil), CauseValidationSpike, FixShrinkValidationBatch, FixHalveBatchAccumulate},
		"a step of its training that JAX has compiled": {"python3 -m MaxText.train base.yml per_device_batch_size=4 eval_interval=677 eval_per_device_batch_size=16", 0, 78, 0, 0, 0, History{Total: gibs(95), Free: gibs(30), Process: gibs(28.5), Peaks: levels(28.5, 28.5, 28.5, 28.5, 28.5)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(670), Functions: []string{"<module>", "train_loop"}, Code: []string{"app.run(main)", "state, metrics = p_train_step(state, batch, nextrng)"}}, ofJAX(78, nil), CauseDataSpike, FixCapSampleSize, FixShrinkValidationBatch},
		"a share of the GPU that is too small for one input": {"colabfold_batch --num-recycle 3 seqs.fasta out/", 0, 39, 0, 0, 0, History{Total: gibs(95), Free: gibs(57), Process: gibs(38), Peaks: levels(38, 38, 38, 38, 38, 38, 38, 38)},
			sampler.LogContext{Server: "alphafold", Functions: []string{"main", "run", "predict"}, Code: []string{"result, recycles = self.apply(self.params, jax.random.PRNGKey(random_seed), feat)"}}, ofJAX(39, map[string]string{"XLA_PYTHON_CLIENT_MEM_FRACTION": ".40"}), CauseMemoryLimit, FixRaiseLimit, FixHalveBatchAccumulate},
		"sessions that the log counts": {"python serve_stream.py --model asr --max-sessions 512", 14.75, 0.05, 0.02, 13.6, 0.9, History{Peaks: levels(5, 5.6, 6.3, 7, 7.6, 8.3, 9, 9.6, 10.3, 11, 11.6, 12.3, 13, 13.6, 14.4)},
			sampler.LogContext{Counted: &sampler.SizeGrowth{Name: "sessions", From: 2, To: 216}, Functions: []string{"<module>", "open_session", "init_state"}, Code: []string{"state = model.init_state(batch=1)", "cache = torch.zeros(self.shape, device='cuda')"}}, nil, CauseTooBig, FixCapSampleSize, FixLeak},
		"memory that does not rise with them": {"python serve_stream.py --model asr --max-sessions 512", 14.75, 3, 2.6, 11, 0.9, History{Peaks: levels(12, 12, 12, 12, 12, 12, 12, 12, 12, 12)},
			sampler.LogContext{Counted: &sampler.SizeGrowth{Name: "sessions", From: 2, To: 216}, Functions: []string{"<module>", "open_session", "init_state"}}, nil, CauseDataSpike, FixCapSampleSize, ""},
		"a history that an optimizer fills": {"python train_pinn.py --lbfgs-iters 2000 --lbfgs-history 400 --points 200000", 31.4, 0.05, 0.04, 27.9, 3, History{Peaks: levels(16.8, 17.8, 18.8, 19.8, 20.8, 21.8, 22.8, 23.8, 24.8, 25.8, 26.8, 27.8, 28.8, 29.8, 31)},
			sampler.LogContext{Told: []string{sampler.ToldWork + sampler.WorkResiduals}, Counted: &sampler.SizeGrowth{Name: "history", From: 6, To: 302, Of: 400}, Functions: []string{"<module>", "main", "closure", "forward"}, Code: []string{"loss = opt.step(closure)", "loss = pde_loss(net, xyz)"}}, nil, CauseTooBig, FixSmallerOptimizer, ""},
		"vectors that an index holds": {"python build_index.py --emb shards/ --index IVF65536,Flat --gpu 0", 45, 0.75, 0, 0, 0, History{Total: gibs(45), Free: gibs(0), Peaks: levels(10, 13, 16, 19, 22, 25, 28, 31, 34, 37, 40, 43)},
			sampler.LogContext{Told: []string{sampler.ToldWork + sampler.WorkVectors}, Functions: []string{"<module>", "main", "replacement_add"}, Code: []string{"index.add(x)", "self.add_c(n, swig_ptr(x))"}}, func(e *sampler.OOMEvent) {
				*e = sampler.OOMEvent{Framework: "faiss", Kind: sampler.KindOtherGPU, MemoryKind: sampler.MemoryGPU, Requested: gibs(0.75), Context: e.Context, Text: "StandardGpuResources: alloc fail"}
			}, CauseTooBig, FixSmallerInput, FixHalveBatchAccumulate},
		"a larger model beside the one that serves": {"python serve.py --model-dir /models/ranker --warm-swap", 44.5, 0.25, 0.1, 44, 0.02, History{Peaks: levels(20, 20, 20, 22, 22, 22, 24, 24, 24, 26, 26, 26, 28, 28, 28, 37)},
			sampler.LogContext{Functions: []string{"<module>", "swap", "to"}, Code: []string{"main()", "new = load_model(path).to('cuda')", "return self._apply(convert)"}}, nil, CauseTooBig, FixShardOrOffload, FixHalveBatchAccumulate},
		"blocks that are swapped are no model": {"python serve.py --port 8100", 44.5, 0.25, 0.1, 44, 0.02, History{Peaks: levels(20, 20, 20, 22, 22, 22, 24, 24, 24, 26, 26, 26, 28, 28, 28, 37)},
			sampler.LogContext{Functions: []string{"<module>", "swap_in", "copy"}, Code: []string{"main()", "block = cache.swap_in(ids)"}}, nil, CauseLeak, FixLeak, FixShardOrOffload},
		"an agent that goes on with its cache": {"python run_agent.py --model Qwen2.5-VL-7B-Instruct --history full", 47.5, 0.09, 0.06, 43.2, 4, History{Peaks: levels(30, 33, 31, 34, 32, 35, 33, 34, 36, 32, 35, 44)},
			sampler.LogContext{Functions: []string{"<module>", "main", "act", "update"}, Files: []string{"agent/agent.py", "transformers/cache_utils.py"}, Code: []string{"action = agent.act(obs)", "out = self.model.generate(inputs, past_key_values=self.cache, max_new_tokens=256)", "self.key_cache[layer_idx] = torch.cat([self.key_cache[layer_idx], key_states], dim=-2)"}}, nil, CauseTooBig, FixCapSampleSize, FixHalveBatchAccumulate},
		"a page that is larger than all before": {"python ocr_batch.py --in binders", 14.7, 7.3, 5.7, 8.7, 0.1, History{Peaks: flat},
			sampler.LogContext{Functions: []string{"<module>", "forward"}, Code: []string{"result = predictor([page])", "out = self.conv2(out)", "return F.conv2d("}}, nil, CauseDataSpike, FixCapSampleSize, ""},
		"a clip whose size the text does not tell": {"python main.py --port 8188", 15.6, 0, 1.4, 0, 0, History{Total: gibs(15.6), Free: gibs(1.4), Peaks: levels(6.3, 9, 7, 10.7, 8, 9.5, 6.5, 10.2, 7, 9, 10.7, 8)},
			sampler.LogContext{Server: "comfyui", Functions: []string{"execute", "decode"}}, func(e *sampler.OOMEvent) {
				*e = sampler.OOMEvent{Framework: "pytorch", Kind: sampler.KindCUDA, MemoryKind: sampler.MemoryGPU, Text: "Allocation on device", Context: e.Context}
			}, CauseDataSpike, FixCapSampleSize, ""},
		"what the first rank judges": {"torchrun --nproc_per_node=2 train.py --batch 12", 23.7, 0.25, 0.2, 21.2, 1.8, History{Peaks: flat},
			sampler.LogContext{Phase: sampler.PhaseValidation, Told: []string{sampler.ToldShows + sampler.ShowsRanks}, Functions: []string{"main", "evaluate", "forward"}, Code: []string{"if rank == 0: evaluate(model, loader)", "y = model(x)"}}, nil, CauseValidationSpike, FixShrinkValidationBatch, FixRebalanceRanks},
		"a picture that is larger than all before": {"python launch.py --xformers --api", 9.8, 3.75, 3, 5.8, 0.1, History{Peaks: levels(5, 5.1, 5, 5.2, 5.1, 5, 5.1, 5.2)},
			sampler.LogContext{Server: "webui", Functions: []string{"process_images", "sample_hr_pass", "forward"}}, nil, CauseDataSpike, FixCapSampleSize, ""},
		"layers that are unfrozen one after another": {"python tune.py --unfreeze-every 1 --batch 16", 15.77, 1.45, 1.34, 11.25, 2.82, History{Peaks: levels(3.7, 4.1, 4.5, 4.9, 5.3, 5.7, 6.1, 6.5, 6.9, 7.3, 7.7, 8.2)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(1500), Functions: []string{"main", "forward"}}, nil, CauseTooBig, FixHalveBatchAccumulate, FixLeak},
		"layers that are unfrozen at an epoch": {"python finetune.py --batch-size 48 --unfreeze-at-epoch 4", 15.7, 0.18, 0.04, 14.67, 0.6, History{Peaks: levels(6.7, 6.7, 6.7, 6.7, 6.7, 6.7, 6.8, 6.8)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Epoch: sampler.Some(4), Functions: []string{"main", "forward"}}, nil, CauseTooBig, FixHalveBatchAccumulate, FixLeak},
		"the second array of a simulation that just began": {"./lbm 640 640 640", 16, 0, 5, 0, 0, History{Age: sampler.Some(11.0), Total: gibs(16), Free: gibs(5), Process: gibs(10.7), Peaks: levels(10.7)},
			sampler.LogContext{}, func(e *sampler.OOMEvent) {
				*e = sampler.OOMEvent{Kind: sampler.KindCUDAError, MemoryKind: sampler.MemoryGPU, Context: e.Context, Text: "CUDA error at lbm.cu:212: cudaMalloc(&f1, size) failed: out of memory (2)"}
			}, CauseTooBig, FixHalveBatchAccumulate, ""},
		"embeddings that are returned as one tensor": {"python encode.py --model bge --batch-size 96 --convert-to-tensor", 14.75, 2.22, 0.12, 10.3, 4.02, History{Peaks: levels(8, 10, 12, 14.4, 14.5, 14.5, 14.6, 14.6, 14.6, 14.6, 14.6, 14.6)},
			sampler.LogContext{Phase: sampler.PhaseInference, Step: sampler.Some(1500), Functions: []string{"encode", "forward"}}, nil, CauseLeak, FixLeak, ""},
		"samples of a quantizer": {"python gptq.py --nsamples 1200 --bits 4", 44.6, 0.1, 0.04, 42.7, 1.4, History{Age: sampler.Some(450.0), Peaks: levels(30, 43)},
			sampler.LogContext{Functions: []string{"<module>", "quantize"}, Files: []string{"auto_gptq/modeling/_base.py"}}, nil, CauseTooBig, FixOffloadModel, ""},
		"a pool that took the rest of the GPU, long after its start": {"TF_FORCE_GPU_ALLOW_GROWTH=true python train.py --batch 16", 0, 0.01, 0, 0, 0, History{Total: gibs(11), Free: gibs(0), Process: gibs(10.7), Peaks: levels(8.2, 8.2, 8.2, 8.2, 8.2, 8.2, 8.2, 8.2, 8.2, 10.7, 10.7, 10.7, 10.7, 10.7)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Epoch: sampler.Some(5)}, func(e *sampler.OOMEvent) {
				*e = sampler.OOMEvent{Framework: "tensorflow", Kind: sampler.KindTensorFlow, MemoryKind: sampler.MemoryGPU, Requested: gibs(0.01), Context: e.Context, Text: "OOM when allocating tensor", Extra: map[string]any{"shape": []int{16, 64, 256, 256}}}
			}, CauseLeak, FixLeak, ""},
		"answers that get longer, and ask for a seventh of the GPU": {"python grpo.py --num_generations 8 --use_peft", 79.1, 12.4, 11.4, 67.1, 0.1, History{Peaks: levels(49, 49, 50, 50, 53, 53, 54, 54, 54, 57, 57, 57, 62, 62, 69, 69, 69, 78.9)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Functions: []string{"main", "_inner_training_loop", "cross_entropy"}}, nil, CauseDataSpike, FixCapSampleSize, ""},
		"steps that take longer with a batch that stays": {"python -m espnet2.bin.asr_train --batch_type sorted --batch_size 10", 44.5, 0.27, 0.18, 43.8, 0.1, History{Peaks: levels(8, 10, 13, 16, 19, 22, 25, 28, 31, 34, 37, 40, 44)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Slowdown: 1.3, Epoch: sampler.Some(1), Step: sampler.Some(959), Functions: []string{"main", "fit", "backward"}}, nil, CauseDataSpike, FixCapSampleSize, ""},
		"pieces of a hundredth that rise alike": {"python grpo.py --num_generations 8 --use_peft", 79.1, 0.8, 0.1, 78.5, 0.1, History{Peaks: levels(49, 49, 50, 50, 53, 53, 54, 54, 54, 57, 57, 57, 62, 62, 69, 69, 69, 78.9)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Functions: []string{"main", "_inner_training_loop", "cross_entropy"}}, nil, CauseLeak, FixLeak, ""},
		"a compiled kernel that finds no room in a run that grows": {"python train.py --batch 4", 44.5, 0.2, 0.1, 43.1, 0.5, History{Peaks: levels(10, 13, 16, 19, 22, 25, 28, 31, 34, 37, 40, 43)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(9000), Functions: []string{"main", "call", "run"}, Files: []string{"train.py", "torch/_inductor/runtime/triton_heuristics.py"}}, nil, CauseLeak, FixLeak, ""},
		"kernels that are tried as a shape is compiled": {"accelerate launch mlm.py --bs 24 --compile-mode max-autotune", 44.5, 2.7, 1.8, 35.5, 6.8, History{Age: sampler.Some(58.0), Peaks: levels(2, 8, 15, 20, 25, 29, 32, 35, 38, 40, 42, 43)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(17), Functions: []string{"main", "benchmark_in_current_process"}, Files: []string{"mlm.py", "torch/_inductor/select_algorithm.py"}}, nil, CauseFragmentation, FixExpandableSegments, FixLeak},
		"a piece of a third of the GPU, between others": {"torchrun --nproc_per_node 2 train.py --batch 4", 79.2, 27.1, 26.5, 36.9, 15.1, History{Peaks: levels(56, 56, 56, 60, 60, 60, 54, 54, 54, 67, 67, 60, 60, 60)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(998), Functions: []string{"train", "score", "log_softmax"}}, nil, CauseDataSpike, FixHalveBatchAccumulate, ""},
		"such a piece in a validation that the process has grown in": {"fairseq-train data --max-tokens 3584 --batch-size-valid 64", 22.2, 9.2, 8.2, 7.2, 6.5, History{Peaks: levels(12.6, 12.6, 12.6, 15.2, 15.2, 15.2, 15.2, 15.2, 15.2, 20.8, 22, 21.9)},
			sampler.LogContext{Phase: sampler.PhaseValidation, Epoch: sampler.Some(1), Functions: []string{"validate", "valid_step", "log_softmax"}}, nil, CauseValidationSpike, FixShrinkValidationBatch, ""},
		"an answer that does not end": {"python write_book.py --model mistral-7b --temperature 0.9", 22.2, 0.55, 0.54, 21.2, 0.1, History{Peaks: levels(17.8, 18.3, 22.1, 18.2, 21.9, 20.9, 21.8, 19.7, 22, 21.3, 22.1, 22.2), Kept: levels(15.4, 15.9, 16, 16.7, 16.9, 17.4, 18.4, 19)},
			sampler.LogContext{Phase: sampler.PhaseInference, Step: sampler.Some(16), Beyond: &sampler.SizeGrowth{Name: "tokens", From: 3792, To: 8592}, Functions: []string{"<module>", "main", "_sample", "update"}, Files: []string{"w/write_book.py", "transformers/generation/utils.py", "transformers/cache_utils.py"},
				Code: []string{"out = model.generate(**inputs, max_new_tokens=args.max_new_tokens)", "self.key_cache[layer_idx] = torch.cat([self.key_cache[layer_idx], key_states], dim=-2)"}}, nil, CauseDataSpike, FixCapSampleSize, ""},
		"a clip that does not end": {"python track.py --clips in", 15.7, 0.2, 0.1, 14.6, 0.4, History{Peaks: levels(9, 10, 9, 11, 9, 10, 11, 12, 13, 14, 15, 15.6)},
			sampler.LogContext{Phase: sampler.PhaseInference, Step: sampler.Some(40), Beyond: &sampler.SizeGrowth{Name: "frames", From: 300, To: 1200}, Functions: []string{"<module>", "main", "track"}}, nil, CauseDataSpike, FixCapSampleSize, ""},
		"a cache that has long been at its limit": {"uvicorn assistant.app:app --port 8000", 44.5, 0.06, 0.04, 37.6, 6.4, History{Peaks: levels(16, 20, 24, 28, 32, 35.7, 39.9, 42.1, 43.1, 43.8, 43.9, 42.3, 43.2, 44.4, 44.2, 44.2, 44.5)},
			sampler.LogContext{Full: &sampler.SizeGrowth{Name: "cache", To: 21.3, Of: 21.4, Unit: "gib"}, Counted: &sampler.SizeGrowth{Name: "sessions", From: 27, To: 199}, Functions: []string{"app", "generate", "forward"}, Files: []string{"starlette/routing.py", "assistant/engine.py"}}, nil, CauseFragmentation, FixExpandableSegments, FixLeak},
		"one that nothing limits": {"uvicorn assistant.app:app --port 8000", 44.5, 0.06, 0.04, 42.6, 1.4, History{Peaks: levels(16, 20, 24, 28, 32, 35.7, 37, 39, 40, 41, 42, 43, 43.5, 44, 44.5)},
			sampler.LogContext{Functions: []string{"app", "generate", "forward"}, Files: []string{"starlette/routing.py", "assistant/engine.py"}}, nil, CauseLeak, FixLeak, FixGradientCheckpointing},
		"validation with its graph, in a loop around the model of others": {"python train_forecast.py --batch 4", 79.2, 0.18, 0.17, 77.5, 1, History{Peaks: levels(46, 44.5, 44.5, 48.7, 44.5, 52.3, 44.5, 55.8, 59.4, 63, 44.5, 66.5), Kept: levels(21, 21, 21, 21)},
			sampler.LogContext{Phase: sampler.PhaseValidation, Epoch: sampler.Some(16), Told: []string{sampler.ToldDomain + sampler.DomainGraph, sampler.ToldTool + "GraphCast"}, Functions: []string{"<module>", "main", "validate", "forward"}, Files: []string{"w/train_forecast.py", "models/graphcast.py"},
				Code: []string{"scores = validate(model, val_dl)", "x = model(x, forcings[:, k])", "h = h + self.processor(h, edges)"}}, nil, CauseValidationSpike, FixNoGradValidation, ""},
		"one layer of it that is large": {"python train_forecast.py --batch 4", 79.2, 9, 8.5, 69, 1, History{Peaks: levels(46, 44.5, 44.5, 48.7, 44.5, 52.3, 44.5, 55.8, 59.4, 63, 44.5, 66.5), Kept: levels(21, 21, 21, 21)},
			sampler.LogContext{Phase: sampler.PhaseValidation, Epoch: sampler.Some(16), Told: []string{sampler.ToldDomain + sampler.DomainGraph}, Functions: []string{"<module>", "main", "validate", "forward"}, Files: []string{"w/train_forecast.py", "models/net.py"},
				Code: []string{"scores = validate(model, val_dl)", "x = model(x, forcings[:, k])", "h = h + self.processor(h, edges)"}}, nil, CauseValidationSpike, FixShrinkValidationBatch, ""},
		"statistics that keep their graphs, in a cache that had room": {"accelerate launch ppo.py --batch_size 64", 39.4, 0.26, 0.13, 36.4, 2.4, History{Peaks: levels(33.8, 38.5, 38.5, 38.5, 38.5, 38.5, 38.5, 38.5, 38.5, 38.5, 38.5, 38.5, 38.8, 39.2), Kept: levels(24.3)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(170), Functions: []string{"main", "train_minibatch", "backward"}}, nil, CauseLeak, FixLeak, ""},
		"pieces between what stays": {"accelerate launch ppo.py --batch_size 64", 39.4, 0.26, 0.13, 33.4, 5.4, History{Peaks: levels(33.8, 38.5, 38.5, 38.5, 38.5, 38.5, 38.5, 38.5, 38.5, 38.5, 38.5, 38.5, 38.8, 39.2), Kept: levels(24.3)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(170), Functions: []string{"main", "train_minibatch", "backward"}}, nil, CauseFragmentation, FixExpandableSegments, ""},
		"three equal steps, the last of which failed": {"python main.py --model LSTM --batch_size 40", 10.75, 0.1, 0.05, 10, 0.4, History{Age: sampler.Some(182.0), Process: gibs(10.7), Peaks: levels(7.6, 7.6, 7.6, 7.6, 7.6, 8.45, 8.45, 8.45, 8.45, 8.45, 8.45, 9.3, 9.3, 9.3, 9.3, 9.3, 9.3, 9.3, 10.15, 10.15, 10.15, 10.15, 10.15, 10.15, 10.15)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Epoch: sampler.Some(1), Step: sampler.Some(450), Functions: []string{"main", "train", "forward"}}, nil, CauseLeak, FixLeak, ""},
		"trainers of all folds": {"python cv_train.py --folds 10 --bs 24", 23.7, 0.23, 0.01, 22, 1.3, History{Peaks: levels(10.2, 10.2, 10.2, 12.3, 12.3, 12.3, 14.3, 14.3, 14.3, 16, 16, 16, 18, 18, 18, 19.8, 19.8, 19.8, 21.7, 21.7, 21.7, 23.6, 23.6)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Epoch: sampler.Some(12), Fold: sampler.Some(9), Functions: []string{"main", "fit", "forward"}}, nil, CauseLeak, FixLeak, ""},
		"actors that were started again, on the one GPU": {"python -m impala.learner --actors 6", 14.75, 2.2, 2.15, 5.8, 0.55, History{Process: gibs(6.6), Peaks: levels(6.6, 6.6, 6.6, 6.6, 6.6, 6.6), Sole: true, Others: actors},
			sampler.LogContext{Phase: sampler.PhaseValidation, Step: sampler.Some(540), Functions: []string{"<module>", "main", "evaluate", "decorate_context", "forward"}}, holding(6.6), CauseOtherProcess, FixStopOtherProcess, FixRebalanceRanks},
		"the first rank alone writes what is judged": {"accelerate launch --num_processes 4 sum.py --per_device_train_batch_size 8 --num_beams 4", 23.7, 1.92, 1.81, 20.6, 0.64, History{Peaks: evaluated, PeerPeaks: levels(15.4, 15.4, 15.4), Peers: levels(15.4, 15.4, 15.4)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(725), Functions: []string{"<module>", "main", "_beam_search", "update"}, Files: []string{"w/sum.py", "generation/utils.py", "transformers/cache_utils.py"}, Code: []string{"main()", "out = accelerator.unwrap_model(model).generate(ids, **how)"}},
			ofRank(0), CauseValidationSpike, FixShrinkValidationBatch, FixHalveBatchAccumulate},
		"what rewards teach is written in each step": {"accelerate launch --num_processes 4 ppo.py --per_device_train_batch_size 8", 23.7, 1.92, 1.81, 20.6, 0.64, History{Peaks: levels(22, 22, 22, 22, 22, 22, 22)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(725), Functions: []string{"<module>", "main", "make_experience", "_sample", "update"}, Files: []string{"w/ppo.py", "generation/utils.py", "transformers/cache_utils.py"}, Code: []string{"main()", "out = policy.generate(ids)"}},
			ofRank(0), CauseDataSpike, FixCapSampleSize, FixShrinkValidationBatch},
		"answers that get longer, below a limit that cuts none": {"torchrun --nproc_per_node 2 grpo.py --per_device_train_batch_size 4 --max_completion_length 16384", 79.15, 0.69, 0.36, 71.9, 6.2, History{Peaks: levels(56, 58, 58, 62, 68, 68, 68, 74, 74, 75, 62, 64, 70, 79, 68, 76, 76, 79)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(490), Parameters: sampler.Some(uint64(3_000_000_000)), Larger: &sampler.SizeGrowth{Name: "length", From: 585, To: 1661}, Functions: []string{"<module>", "train", "compute_loss", "forward"}, Files: []string{"w/grpo.py", "transformers/trainer.py"}},
			ofRank(0), CauseDataSpike, FixCapSampleSize, ""},
		"a graph of which a part has hubs, and batches that grow": {"torchrun --nproc_per_node 4 train_dist.py --fan_out_schedule 5,10,15,20", 31.7, 1.48, 1.47, 26.6, 3.1, History{Peaks: levels(26.3, 27.4, 27.4, 27.4, 31.6, 29.8, 31.3, 31.3, 29.2, 30.7, 30.7, 31.7, 31.5, 31.5, 31.5, 31.5)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Epoch: sampler.Some(2), Larger: &sampler.SizeGrowth{Name: "nodes", From: 1503009, To: 2773448}, Functions: []string{"<module>", "run", "backward"}}, ofRank(2), CauseDataSpike, FixCapSampleSize, ""},
		"the first video is decoded beside the model that has sampled": {"python generate.py --size 1280*720 --frame_num 121", 31.7, 1.79, 1.66, 28, 1.8, History{Peaks: levels(25.9, 25.9, 25.9, 25.9, 25.9, 25.9, 25.9, 25.9)},
			sampler.LogContext{Phase: sampler.PhaseInference, Step: sampler.Some(40), Functions: []string{"<module>", "generate", "decode", "_conv_forward"}, Code: []string{"videos = self.vae.decode(x0)", "return F.conv3d("}, Files: []string{"w/generate.py", "models/vae.py"}}, nil, CauseTooBig, FixSmallerInput, ""},
		"pictures that one evaluation keeps": {"python train_ddpm.py --batch 8", 44.5, 2.49, 0.87, 38.1, 5.1, History{Peaks: levels(33, 33, 33, 33, 33, 33, 33, 33, 33, 33, 33, 33, 33, 33, 33, 33, 40, 40, 40, 40, 42.7, 42.7, 33.7, 36.2, 36.2, 38.7, 41.2, 43.7)},
			sampler.LogContext{Phase: sampler.PhaseValidation, Step: sampler.Some(999), Functions: []string{"main", "evaluate_fid", "decorate_context", "forward"}}, nil, CauseValidationSpike, FixLeak, ""},
		"they had not": {"python train.py --batch-size 4", 23.7, 0.18, 0.15, 22.3, 1, History{Peaks: levels(19, 20.5, 20.5, 21, 21.5, 22, 22, 22.5, 23, 23.2, 23.4, 23.5)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(1486), MostAllocated: gibs(22), GPUMemory: levels(16, 17, 18, 19, 20, 21, 22), Functions: []string{"main", "forward"}},
			nil, CauseLeak, FixLeak, ""},
	} {
		e := pytorch(gibs(row.need), gibs(row.total), gibs(row.free))
		e.Text = "CUDA out of memory."
		e.Allocated, e.ReservedUnallocated, e.ProcessInUse = gibs(row.allocated), gibs(row.unallocated), gibs(row.total-row.free)
		row.context.Environment = map[string]string{}
		e.Context = &row.context
		if row.change != nil {
			row.change(&e)
		}
		if !row.history.Process.Known() {
			row.history.Process = gibs(row.total - row.free)
		}
		if !row.history.Age.Known() {
			row.history.Age = sampler.Some(2000.0)
		}
		got := Explain(Incident{Command: row.command, Events: []sampler.OOMEvent{e}, Histories: []*History{&row.history}})
		if len(got.Advice) == 0 || got.Causes[0].ID != row.cause || got.Advice[0].ID != row.fix || slices.ContainsFunc(got.Advice, func(a sampler.Advice) bool { return a.ID == row.not }) {
			t.Errorf("%s: want %s, %s and not %s\n%+v\n", what, row.cause, row.fix, row.not, got.Causes)
			for _, a := range got.Advice {
				t.Log(a.ID, a.Title, a.Do)
			}
		}
		for i, a := range got.Advice {
			if len(a.Do) > 0 && isCommand(a.Do[0]) && slices.ContainsFunc(got.Advice[:i], func(b sampler.Advice) bool { return b.Measure() == a.Measure() && len(b.Do) > 0 && b.Do[0] == a.Do[0] }) {
				t.Errorf("%s: the same command twice: %s", what, a.Do[0])
			}
		}
	}
}

// holding is the failure of a process that holds so many GiB, beside others.
func holding(gib float64) func(*sampler.OOMEvent) {
	return func(e *sampler.OOMEvent) { e.ProcessInUse = gibs(gib) }
}

// ofRank is the failure of one of several ranks.
func ofRank(n int) func(*sampler.OOMEvent) {
	return func(e *sampler.OOMEvent) { e.Rank = sampler.Some(n) }
}

// ofJAX is a refusal of JAX of so many GiB, with variables that are set.
func ofJAX(need float64, environment map[string]string) func(*sampler.OOMEvent) {
	return func(e *sampler.OOMEvent) {
		e.Context.Environment = environment
		*e = sampler.OOMEvent{Framework: "jax", Kind: sampler.KindXLA, MemoryKind: sampler.MemoryGPU, Requested: gibs(need), Context: e.Context, Text: "RESOURCE_EXHAUSTED: Out of memory while trying to allocate"}
	}
}

// What the recording shows decides between causes that one message cannot tell apart.
func TestRecordedCauses(t *testing.T) {
	levels := func(gib ...float64) (list []sampler.Bytes) {
		for _, g := range gib {
			list = append(list, gibs(g).Or(0))
		}
		return list
	}
	flat := levels(40, 40.1, 40, 40.1, 40, 40.1, 40, 40.1, 40, 40.1)
	for what, row := range map[string]struct {
		total, need, free, allocated, unallocated float64
		history                                   History
		context                                   sampler.LogContext
		cause, fix                                string
	}{
		"a sum of steps keeps their graphs, from the first ones on": {14.75, 0.05, 0, 14.13, 0.32, History{Age: sampler.Some(137.0)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(2), Functions: []string{"run_epoch"}, Code: []string{"total_loss += model(ids, labels=labels).loss"}}, CauseLeak, FixLeak},
		"a sum of numbers does not": {14.75, 0.05, 0, 14.13, 0.32, History{Age: sampler.Some(137.0)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(2), Functions: []string{"run_epoch"}, Code: []string{"total_loss += model(ids, labels=labels).loss.item()"}}, CauseTooBig, FixHalveBatchAccumulate},
		"tensors alone hold more than the process did at first": {23.69, 0.31, 0.31, 21.59, 1.43, History{Age: sampler.Some(7200.0), Peaks: levels(22.7, 21.4, 21.4, 21.6, 21.8, 22, 22.2, 22.5, 22.8, 23, 23.2, 23.5, 23.7)},
			sampler.LogContext{Phase: sampler.PhaseInference, Step: sampler.Some(9060), Functions: []string{"encode_all", "forward"}}, CauseLeak, FixLeak},
		"tensors alone were to hold far more than the process did for half of the run": {44.53, 2.79, 2.62, 38.79, 2.45, History{Age: sampler.Some(1351.0), Peaks: levels(26.6, 26.6, 26.6, 26.6, 26.6, 26.6, 26.6, 44.5, 44.5, 44.5, 44.5, 44.5)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(1696), BatchSize: sampler.Some(4), Functions: []string{"main", "train_one_epoch", "cross_entropy"}}, CauseDataSpike, FixCapSampleSize},
		"tensors alone were to hold more than the process did of late": {22.2, 2.25, 1.59, 18.89, 1.46, History{Age: sampler.Some(534.0), Peaks: levels(20, 22, 21.3, 21.3, 21.3, 21.3, 21.3, 22, 16.2, 16.2, 16.2, 16.2)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(920), BatchSize: sampler.Some(4), Functions: []string{"main", "train_one_epoch"}}, CauseDataSpike, FixCapSampleSize},
		"it did of late": {22.2, 2.25, 1.59, 18.89, 1.46, History{Age: sampler.Some(534.0), Peaks: levels(20, 22, 21.3, 21.3, 21.3, 21.3, 21.3, 22, 16.2, 19.4, 16.2, 16.2)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(920), BatchSize: sampler.Some(4), Functions: []string{"main", "train_one_epoch"}}, CauseFragmentation, FixExpandableSegments},
		"the process had held as much all along": {44.53, 2.79, 2.62, 38.79, 2.45, History{Age: sampler.Some(1351.0), Peaks: levels(41, 41, 41, 41, 41, 41, 41, 44.5, 44.5, 44.5, 44.5, 44.5)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(1696), BatchSize: sampler.Some(4), Functions: []string{"main", "train_one_epoch", "cross_entropy"}}, CauseFragmentation, FixExpandableSegments},
		"every layer asks for its keys again": {44.53, 3.12, 0.81, 39.13, 4.12, History{Age: sampler.Some(1000.0), Peaks: flat},
			sampler.LogContext{Phase: sampler.PhaseInference, Step: sampler.Some(190), Functions: []string{"generate", "update"}, Files: []string{"transformers/cache_utils.py"}}, CauseDataSpike, FixCapSampleSize},
		"a resumed run dies at once": {47.5, 0.22, 0.11, 45.49, 1.43, History{Age: sampler.Some(125.0), Peaks: levels(5, 20, 40)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(11500), Resumed: true, Functions: []string{"main", "forward"}}, CauseTooBig, FixLeak},
		"more steps than a process of that age can have done": {47.5, 0.22, 0.11, 45.49, 1.43, History{Age: sampler.Some(110.0), Peaks: levels(5, 20, 40)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(42000), Functions: []string{"main", "forward"}}, CauseTooBig, FixHalveBatchAccumulate},
		"the log says that the work got larger": {47.5, 0.22, 0.11, 45.49, 1.43, History{Age: sampler.Some(1600.0), Peaks: levels(20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(900), Larger: &sampler.SizeGrowth{Name: "cells", From: 12000, To: 61782}, Functions: []string{"step", "forward"}}, CauseDataSpike, FixCapSampleSize},
		"the odd sample may be one": {15.77, 1.02, 0.22, 13.18, 2.0, History{Age: sampler.Some(800.0), Peaks: levels(14, 14.1, 14, 14.1, 14, 14.1)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(1723), Functions: []string{"train", "forward"}}, CauseDataSpike, FixCapSampleSize},
		"a batch of four on four GPUs": {79.11, 54.27, 23.37, 43.44, 11.41, History{Age: sampler.Some(1400.0), Peaks: flat},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(700), GlobalBatch: sampler.Some(4), Replicas: sampler.Some(4), Functions: []string{"train_step", "forward"}}, CauseDataSpike, FixCapSampleSize},
		"few of many parameters are trained": {23.69, 6.96, 6.09, 17.18, 0.05, History{Age: sampler.Some(44.0), Peaks: levels(4.8)},
			sampler.LogContext{Phase: sampler.PhaseTraining, FirstStep: true, Precision: "bf16", Parameters: sampler.Some(uint64(7_696_357_888)), Trained: sampler.Some(uint64(80_740_352)), BatchSize: sampler.Some(4), Functions: []string{"train", "compute_loss", "forward"}}, CauseTooBig, FixHalveBatchAccumulate},
		"all of them are": {23.69, 6.96, 6.09, 17.18, 0.05, History{Age: sampler.Some(44.0), Peaks: levels(4.8)},
			sampler.LogContext{Phase: sampler.PhaseTraining, FirstStep: true, Precision: "bf16", Parameters: sampler.Some(uint64(7_696_357_888)), Trained: sampler.Some(uint64(7_696_357_888)), BatchSize: sampler.Some(4), Functions: []string{"train", "compute_loss", "forward"}}, CauseTooBig, FixShardOrOffload},
		"a hook keeps what comes out in validation": {23.69, 0.87, 0.69, 16.11, 6.57, History{Age: sampler.Some(757.0), Peaks: levels(16.5, 16.5, 18.6, 18.6, 21.6, 21.6, 21.6, 23)},
			sampler.LogContext{Phase: sampler.PhaseValidation, Epoch: sampler.Some(6), Functions: []string{"validate", "hook"}, Code: []string{"output = model(input)", "store[name].append(out.detach().float())"}}, CauseValidationSpike, FixLeak},
		"it goes to the CPU": {23.69, 0.87, 0.69, 16.11, 6.57, History{Age: sampler.Some(757.0), Peaks: levels(16.5, 16.5, 18.6, 18.6, 21.6, 21.6, 21.6, 23)},
			sampler.LogContext{Phase: sampler.PhaseValidation, Epoch: sampler.Some(6), Functions: []string{"validate", "hook"}, Code: []string{"output = model(input)", "store[name].append(out.detach().cpu())"}}, CauseValidationSpike, FixShrinkValidationBatch},
		"what an evaluation has collected is made one tensor": {23.65, 10.88, 8.46, 12.72, 2.04, History{Age: sampler.Some(1080.0), Peaks: levels(14, 14.1, 14, 14.1, 14, 14.1, 14, 14.1)},
			sampler.LogContext{Phase: sampler.PhaseValidation, Functions: []string{"main", "compute_fid"}, Code: []string{"fid = compute_fid(ema, cfg)", "feats = torch.cat(feats, 0)"}}, CauseValidationSpike, FixLeak},
		"as many keys and values had fitted for long": {39.4, 1.38, 0.18, 25.6, 13.11, History{Age: sampler.Some(1382.0), Peaks: levels(36, 37, 38, 37, 38, 38.5, 38, 38.5, 38, 38.6)},
			sampler.LogContext{Phase: sampler.PhaseInference, Step: sampler.Some(190), Functions: []string{"generate", "update"}, Files: []string{"transformers/cache_utils.py"}}, CauseFragmentation, FixExpandableSegments},
		"the log counts models that stay": {23.69, 0.07, 0.01, 22.6, 0.3, History{Age: sampler.Some(1001.0), Peaks: levels(20.4, 20.5, 20.5, 20.5, 20.5, 20.5, 20.5, 20.5, 22.4, 22.6, 23.7)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Trials: sampler.Some(7), Told: []string{sampler.ToldModelsKept}, Functions: []string{"run_cv", "fit_fold", "step"}}, CauseLeak, FixLeak},
		"the states of all ranks are put together on one": {31.74, 0.25, 0.16, 30.6, 0.3, History{Age: sampler.Some(922.0), Peaks: levels(26.3, 26.3, 26.3, 26.3, 26.3, 32.3)},
			sampler.LogContext{Phase: sampler.PhaseSaving, Functions: []string{"main", "consolidate_state_dict", "_broadcast_object"}, Files: []string{"optim/zero_redundancy_optimizer.py"}}, CauseImbalance, FixRebalanceRanks},
		"all embeddings become one tensor beside their parts": {47.54, 20.88, 20.06, 24.5, 1.4, History{Age: sampler.Some(1750.0), Peaks: levels(38, 39, 40, 41, 42, 43, 44, 45, 46, 47)},
			sampler.LogContext{Phase: "", Functions: []string{"main", "acquire", "embed_pool"}, Code: []string{"feats = embed_pool(model, pool)", "return torch.cat(out)"}}, CauseLeak, FixLeak},
		"they have grown up to now": {39.4, 0.38, 0.18, 25.6, 13.11, History{Age: sampler.Some(1382.0), Peaks: levels(10, 13, 16, 19, 22, 25, 28, 31, 34, 38.6)},
			sampler.LogContext{Phase: sampler.PhaseInference, Step: sampler.Some(190), Functions: []string{"generate", "update"}, Files: []string{"transformers/cache_utils.py"}}, CauseTooBig, FixShortenContext},
		"the first rank alone comes to hold more": {47.54, 0.09, 0.08, 44.27, 2.61, History{Age: sampler.Some(1172.0), Peaks: levels(33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47), PeerPeaks: levels(30.9, 30.9, 30.9)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(1477), Functions: []string{"main", "forward"}}, CauseLeak, FixLeak},
		"one rank gathers what all have": {23.65, 4.19, 2.94, 19.31, 0.71, History{Age: sampler.Some(332.0), Peaks: levels(22.3, 20.4, 20.4, 23.2)},
			sampler.LogContext{Phase: sampler.PhaseValidation, Step: sampler.Some(58), Functions: []string{"main", "calc_fid", "gather_to_rank0"}}, CauseImbalance, FixRebalanceRanks},
		"holes of training keep one matrix out of validation": {31.36, 11.81, 9.52, 6.66, 14.68, History{Age: sampler.Some(468.0), Peaks: levels(22.4, 22.4, 22.4, 22.9, 22.9)},
			sampler.LogContext{Phase: sampler.PhaseValidation, Step: sampler.Some(839), Functions: []string{"fit", "evaluate"}}, CauseFragmentation, FixExpandableSegments},
		"a state dict of DTensors is made whole on the first rank": {47.5, 0.25, 0.23, 45.4, 0.8, History{Age: sampler.Some(700.0), Peaks: levels(32.4, 32.4, 32.4, 32.4, 32.4, 32.4, 32.4, 46.9)},
			sampler.LogContext{Phase: sampler.PhaseSaving, Step: sampler.Some(400), Functions: []string{"recipe_main", "train", "save_checkpoint", "_save_checkpoint_sync", "gather_cpu_state_dict", "full_tensor", "redistribute"}}, CauseImbalance, FixRebalanceRanks},
		"holes that a validation has made itself, which needs more than training held": {79.15, 26.59, 15.34, 28.97, 34.33, History{Age: sampler.Some(331.0), Peaks: levels(46.8, 46.8, 46.8, 46.8, 46.8, 46.8, 46.8, 46.8, 78.6)},
			sampler.LogContext{Phase: sampler.PhaseValidation, Step: sampler.Some(640), Functions: []string{"main", "_maybe_log_save_evaluate", "evaluate", "evaluation_loop", "prediction_step"}}, CauseValidationSpike, FixShrinkValidationBatch},
		"one validation climbs from batch to batch": {22.2, 0.02, 0, 21.13, 0.72, History{Age: sampler.Some(131.0), Peaks: levels(14.2, 14.2, 14.2, 14.2, 14.2, 14.8, 18.7)},
			sampler.LogContext{Phase: sampler.PhaseValidation, Epoch: sampler.Some(0), Step: sampler.Some(229), Functions: []string{"main", "validate", "forward"}}, CauseValidationSpike, FixLeak},
		"what a training draws between its steps keeps its graph": {11.66, 0.14, 0.1, 10.84, 0.25, History{Age: sampler.Some(348.0), Peaks: levels(8.2, 8.2, 8.2, 8.2, 8.2, 8.2)},
			sampler.LogContext{Phase: sampler.PhaseInference, Step: sampler.Some(0), Scripts: []string{"train_ddpm.py"}, BatchSize: sampler.Some(48), Functions: []string{"main", "sample", "p_sample", "forward"}}, CauseValidationSpike, FixNoGradValidation},
		"it is turned off": {11.66, 0.14, 0.1, 10.84, 0.25, History{Age: sampler.Some(348.0), Peaks: levels(8.2, 8.2, 8.2, 8.2, 8.2, 8.2)},
			sampler.LogContext{Phase: sampler.PhaseInference, Step: sampler.Some(0), Scripts: []string{"train_ddpm.py"}, BatchSize: sampler.Some(48), Functions: []string{"main", "decorate_context", "sample", "p_sample", "forward"}}, CauseValidationSpike, FixShrinkValidationBatch},
		"of a batch of eight one may be larger, and half of it may still hold that one": {15.77, 1.02, 0.22, 13.18, 2.0, History{Age: sampler.Some(800.0), Peaks: levels(14, 14.1, 14, 14.1, 14, 14.1)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(1723), BatchSize: sampler.Some(8), Functions: []string{"train", "forward"}}, CauseDataSpike, FixCapSampleSize},
		"states that have fitted for 2000 steps are not what was too much": {95, 0.2, 0.1, 90.09, 2.02, History{Age: sampler.Some(2740.0), Peaks: levels(82, 82, 82, 82, 85, 85, 85, 85, 85, 85, 85, 85)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(2203), BatchSize: sampler.Some(2), Precision: "bf16", Parameters: sampler.Some(uint64(7_000_000_000)), Functions: []string{"main", "forward"}}, CauseDataSpike, FixCapSampleSize},
		"of two it may not be": {15.77, 1.02, 0.22, 13.18, 2.0, History{Age: sampler.Some(800.0), Peaks: levels(14, 14.1, 14, 14.1, 14, 14.1)},
			sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(1723), BatchSize: sampler.Some(2), Functions: []string{"train", "forward"}}, CauseDataSpike, FixCapSampleSize},
	} {
		e := pytorch(gibs(row.need), gibs(row.total), gibs(row.free))
		e.Text = "CUDA out of memory."
		e.Allocated, e.ReservedUnallocated, e.ProcessInUse = gibs(row.allocated), gibs(row.unallocated), gibs(row.total-row.free)
		row.context.Environment = map[string]string{}
		e.Context = &row.context
		row.history.Process = e.ProcessInUse
		got := Explain(Incident{Events: []sampler.OOMEvent{e}, Histories: []*History{&row.history}})
		if got.Causes[0].ID != row.cause || got.Advice[0].ID != row.fix {
			t.Errorf("%s: %s, %s; want %s, %s\n%+v", what, got.Causes[0].ID, got.Advice[0].ID, row.cause, row.fix, got.Causes)
		}
	}
}

// Equal steps within a validation, of which an alert told, are outputs that it keeps.
func TestStepsInValidation(t *testing.T) {
	for _, row := range []struct {
		phase  string
		alerts []sampler.Alert
		fix    string
	}{
		{sampler.PhaseValidation, []sampler.Alert{{Kind: sampler.AlertGrowth, Level: sampler.LevelCritical, Text: "6 equal steps of 4.5 GiB"}}, FixLeak},
		{sampler.PhaseValidation, []sampler.Alert{{Kind: sampler.AlertGrowth, Level: sampler.LevelWarning, Text: "8 equal steps", Numbers: map[string]float64{"interval_s": batchesApart}}}, FixLeak},
		{sampler.PhaseValidation, []sampler.Alert{{Kind: sampler.AlertGrowth, Level: sampler.LevelWarning, Text: "one with each epoch", Numbers: map[string]float64{"interval_s": batchesApart + 1}}}, FixShrinkValidationBatch},
		{sampler.PhaseValidation, nil, FixShrinkValidationBatch},
	} {
		e := pytorch(gibs(4.47), gibs(79.11), gibs(1.95))
		e.Text, e.Allocated, e.ReservedUnallocated, e.ProcessInUse = "CUDA out of memory.", gibs(65.7), gibs(10.89), gibs(77.16)
		e.Context = &sampler.LogContext{Phase: row.phase, Step: sampler.Some(116), Epoch: sampler.Some(0), Functions: []string{"main", "decorate_context", "validate"}}
		peaks := amounts(46500, 46500, 46500, 46500, 46500, 46500, 46500, 46500, 46500, 46500, 46500, 46500, 51100)
		got := Explain(Incident{Events: []sampler.OOMEvent{e}, Histories: []*History{{Age: sampler.Some(335.0), Process: e.ProcessInUse, Peaks: peaks}}, Alerts: row.alerts})
		if got.Causes[0].ID != CauseValidationSpike || got.Advice[0].ID != row.fix {
			t.Errorf("%d alerts: %s, %s", len(row.alerts), got.Causes[0].ID, got.Advice[0].ID)
		}
	}
}

// An ordinary request of a rank that an alert had told to be far ahead of the others is no odd batch; a large one may be.
func TestAlertedRank(t *testing.T) {
	for _, row := range []struct {
		need       float64
		alert      bool
		cause, fix string
	}{{0.6, true, CauseImbalance, FixRebalanceRanks}, {0.6, false, CauseDataSpike, FixCapSampleSize}, {4.6, true, CauseDataSpike, FixCapSampleSize}} {
		e := pytorch(gibs(row.need), gibs(47.5), gibs(0.46))
		e.Text, e.Allocated, e.ReservedUnallocated, e.ProcessInUse, e.Rank = "CUDA out of memory.", gibs(45.8), gibs(0.6), gibs(47), sampler.Some(2)
		e.Context = &sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(700), BatchSize: sampler.Some(64), Functions: []string{"main", "backward"}}
		in := Incident{Events: []sampler.OOMEvent{e}, Histories: []*History{{Age: sampler.Some(360.0), Process: e.ProcessInUse, Peaks: amounts(44000, 46000, 45000, 47000, 44500, 46500, 45500, 46000), Kept: amounts(42000, 42000, 42000, 42000, 42000, 42000, 42000)}}}
		if row.alert {
			in.Alerts = []sampler.Alert{{Kind: sampler.AlertImbalance, Level: sampler.LevelWarning, Text: "this GPU will fail first"}}
		}
		if got := Explain(in); got.Causes[0].ID != row.cause || got.Advice[0].ID != row.fix {
			t.Errorf("%+v: %s, %s\n%+v", row, got.Causes[0].ID, got.Advice[0].ID, got.Causes)
		}
	}
}

// A limit that is turned off is set before anything else is made smaller; how long the run may take is no such limit.
func TestUnlimited(t *testing.T) {
	for typed, fix := range map[string]string{
		"python train_listwise.py --queries-per-batch 2 --max-candidates 0 --bf16": "--max-candidates 0",
		"python train_listwise.py --queries-per-batch 2 --max_nodes -1 --bf16":     "--max_nodes -1",
		"python train_listwise.py --queries-per-batch 2 --max-steps -1 --bf16":     "",
	} {
		e := pytorch(gibs(0.234), gibs(15.7), gibs(0.033))
		e.Text, e.Allocated, e.ReservedUnallocated, e.ProcessInUse = "CUDA out of memory.", gibs(13.69), gibs(1.17), gibs(15.27)
		e.Context = &sampler.LogContext{Phase: sampler.PhaseTraining, Epoch: sampler.Some(0), Step: sampler.Some(900), Functions: []string{"train", "forward"}}
		peaks := amounts(6000, 6100, 6000, 6100, 6000, 6100, 6000, 6100, 15600, 15600)
		got := Explain(Incident{Events: []sampler.OOMEvent{e}, Histories: []*History{{Age: sampler.Some(1500.0), Process: e.ProcessInUse, Peaks: peaks}}, Command: typed})
		if a := got.Advice[0]; got.Causes[0].ID != CauseDataSpike || strings.Contains(a.Title, "--max") != (fix != "") || !strings.Contains(a.Title, fix) {
			t.Errorf("%s: %s, %s", typed, got.Causes[0].ID, a.Title)
		}
	}
}

// Alerts say more than two readings: steps that were never given back are a leak, though tensors had held more at the peak of a step, and
// holes that growing validations leave are not why the largest of them did not fit.
func TestAlertsOutweighHoles(t *testing.T) {
	for name, row := range map[string]struct {
		alert       string
		need, free  float64
		held, holes float64
		peaks       []sampler.Bytes
		context     sampler.LogContext
		cause       string
	}{
		"hooks": {sampler.AlertGrowth, 0.11, 0.1, 21.79, 1.46, amounts(13600, 14400, 15200, 16000, 16800, 17600, 18400, 19200, 20000, 20800, 21600, 22400, 23800), sampler.LogContext{Phase: sampler.PhaseTraining, Step: sampler.Some(3300), MostAllocated: gibs(23.25),
			Functions: []string{"main", "_hook", "forward"}, Code: []string{"self.feats[name].append(output)", "return (pred - target).pow(2).mean()"}}, CauseLeak},
		"longer each time": {sampler.AlertRepeatSpike, 9.5, 1.5, 9.2, 12.5, amounts(23000, 23000, 23000, 23000), sampler.LogContext{Phase: sampler.PhaseValidation, Step: sampler.Some(1433),
			Functions: []string{"main", "decorate_context", "validate"}}, CauseValidationSpike},
	} {
		e := pytorch(gibs(row.need), gibs(23.69), gibs(row.free))
		e.Text, e.Allocated, e.ReservedUnallocated, e.ProcessInUse = "CUDA out of memory.", gibs(row.held), gibs(row.holes), gibs(23.69-row.free)
		e.Context = &row.context
		h := &History{Age: sampler.Some(1380.0), Process: e.ProcessInUse, Peaks: row.peaks}
		for alerted, want := range map[bool]string{true: row.cause, false: CauseFragmentation} {
			var alerts []sampler.Alert
			if alerted {
				alerts = []sampler.Alert{{Kind: row.alert, Level: sampler.LevelCritical, Text: "it rises"}}
			}
			if got := Explain(Incident{Events: []sampler.OOMEvent{e}, Histories: []*History{h}, Alerts: alerts}); got.Causes[0].ID != want {
				t.Errorf("%s, alerted %v: %+v", name, alerted, got.Causes)
			}
		}
	}
}
