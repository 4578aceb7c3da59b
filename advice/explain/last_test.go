package explain

import (
	"testing"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
)

// everyCause are the causes that a failure can have.
var everyCause = []string{CauseTooBig, CauseValidationSpike, CauseDataSpike, CauseFragmentation, CauseLeak, CauseOtherProcess, CauseUnattributed, CauseImbalance,
	CauseMemoryLimit, CauseHostMemory, CauseSharedMemory, CauseOversubscribed, CausePreallocation, CauseUnknown}

// everyProgram are failures of one program of each kind, by its command, its log and its error.
var everyProgram = map[string]func(*Incident, *sampler.OOMEvent){
	"training":   func(in *Incident, _ *sampler.OOMEvent) { in.Command = "python train.py --batch-size 8 --epochs 20" },
	"one sample": func(in *Incident, _ *sampler.OOMEvent) { in.Command = "python train.py --batch-size 1" },
	"validation": func(in *Incident, e *sampler.OOMEvent) {
		in.Command, e.Context.Phase, e.Context.Epoch = "python train.py", sampler.PhaseValidation, sampler.Some(3)
	},
	"saving": func(in *Incident, e *sampler.OOMEvent) {
		in.Command, e.Context.Phase = "python train.py", sampler.PhaseSaving
	},
	"loading": func(in *Incident, e *sampler.OOMEvent) { e.Context.Phase = sampler.PhaseLoading },
	"evaluation": func(in *Incident, e *sampler.OOMEvent) {
		e.Context.Server, e.Context.Phase = "lm_eval", sampler.PhaseValidation
	},
	"inference": func(in *Incident, e *sampler.OOMEvent) { in.Command = "python predict.py --out x" },
	"pictures":  func(in *Incident, e *sampler.OOMEvent) { e.Context.Server = "diffusers" },
	"comfyui":   func(in *Incident, e *sampler.OOMEvent) { e.Context.Server = "comfyui" },
	"vllm":      func(in *Incident, e *sampler.OOMEvent) { e.Context.Server = "vllm" },
	"llama.cpp": func(in *Incident, e *sampler.OOMEvent) { e.Context.Server, e.Kind = "llama.cpp", sampler.KindGGML },
	"whisper":   func(in *Incident, e *sampler.OOMEvent) { e.Context.Server = "whisper" },
	"alphafold": func(in *Incident, e *sampler.OOMEvent) {
		e.Context.Server, e.Kind, e.Framework = "alphafold", sampler.KindXLA, "jax"
	},
	"undecided": func(*Incident, *sampler.OOMEvent) {},
	"tables": func(in *Incident, e *sampler.OOMEvent) {
		e.Kind, e.Framework, e.Context.Told = sampler.KindRMM, "rmm", []string{sampler.ToldTables}
	},
	"arrays":     func(in *Incident, e *sampler.OOMEvent) { e.Kind, e.Framework = sampler.KindCuPy, "cupy" },
	"jax":        func(in *Incident, e *sampler.OOMEvent) { e.Kind, e.Framework = sampler.KindXLA, "jax" },
	"tensorflow": func(in *Incident, e *sampler.OOMEvent) { e.Kind, e.Framework = sampler.KindTensorFlow, "tensorflow" },
	"onnx":       func(in *Incident, e *sampler.OOMEvent) { e.Kind, e.Framework = sampler.KindORT, "onnxruntime" },
	"boosting":   func(in *Incident, e *sampler.OOMEvent) { e.Kind, e.Framework = sampler.KindCUDAError, "xgboost" },
	"own code in C": func(in *Incident, e *sampler.OOMEvent) {
		e.Kind, e.Framework = sampler.KindCUDAError, "cuda"
	},
	"molecules": func(in *Incident, e *sampler.OOMEvent) {
		e.Kind, e.Framework, e.Context.Told = sampler.KindOtherGPU, "", []string{sampler.ToldWork + sampler.WorkAtoms}
	},
	"everything in force": func(in *Incident, e *sampler.OOMEvent) {
		in.Command = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python train.py --per_device_train_batch_size 1 --bf16 True --gradient_checkpointing True --optim adamw_8bit --fsdp full_shard"
	},
	"metal": func(in *Incident, e *sampler.OOMEvent) { e.Kind = sampler.KindMPS },
}

// Whatever is found to be the cause, and whatever the program is, something can be done.
func TestNoCauseWithoutAdvice(t *testing.T) {
	for name, change := range everyProgram {
		for _, recorded := range []bool{false, true} {
			for _, numbers := range []bool{false, true} {
				for _, cause := range everyCause {
					e := sampler.OOMEvent{Kind: sampler.KindCUDA, Framework: "pytorch", MemoryKind: sampler.MemoryGPU, Context: &sampler.LogContext{}, Text: "out of memory"}
					if numbers {
						e.Requested, e.GPUTotal, e.GPUFree = mibs(300), gibs(24), mibs(100)
						e.Allocated, e.ReservedUnallocated, e.ProcessInUse = gibs(22), gibs(1), gibs(23.5)
					}
					in := Incident{}
					change(&in, &e)
					if hostCause(cause) {
						e.Kind, e.MemoryKind = map[string]string{CauseHostMemory: sampler.KindHostAlloc, CauseSharedMemory: sampler.KindShm}[cause], sampler.MemoryHost
					}
					if recorded {
						in.History = &History{Total: gibs(24), Free: gibs(0.5), Process: gibs(23.4), Age: sampler.Some(3000.0), Peaks: []sampler.Bytes{gibs(12).Or(0), gibs(12).Or(0), gibs(12).Or(0), gibs(12).Or(0)}}
					}
					in.Events = []sampler.OOMEvent{e}
					f := newFailure(in, e, lang.For("en"))
					if len(f.advise([]sampler.Cause{{ID: cause, Confidence: 0.8}})) == 0 {
						t.Errorf("%s, recorded %v, numbers %v: nothing is advised against %s", name, recorded, numbers, cause)
					}
				}
			}
		}
	}
}
