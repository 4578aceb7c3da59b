package explain

import (
	"strings"
	"testing"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
	"nvpeak/sampler/oomlog"
	"nvpeak/sampler/post"
)

// A cause is called by what it is here, where that has a name in the language.
func TestTitle(t *testing.T) {
	words := lang.For("en")
	plain := Title(words, sampler.Cause{ID: CauseTooBig})
	if got := Title(words, sampler.Cause{ID: CauseTooBig, Form: "checkpoint"}); got == plain || got == "" {
		t.Errorf("a checkpoint is %q", got)
	}
	if got := Title(words, sampler.Cause{ID: CauseTooBig, Form: "unheard of"}); got != plain {
		t.Errorf("a form without a name is %q, not %q", got, plain)
	}
}

// Who resumes a training that had fitted is told of the checkpoint, with figures and without.
func TestCheckpointStays(t *testing.T) {
	for what, e := range map[string]sampler.OOMEvent{
		"figures": {Framework: "pytorch", Kind: sampler.KindCUDA, MemoryKind: sampler.MemoryGPU, Requested: gibs(0.02), GPUTotal: gibs(8), GPUFree: gibs(0), Allocated: gibs(7.2)},
		"none":    {Framework: "pytorch", Kind: sampler.KindCUDA, MemoryKind: sampler.MemoryGPU},
	} {
		e.Context = &sampler.LogContext{Phase: sampler.PhaseTraining, Told: []string{sampler.ToldCheckpoint, sampler.ToldTraining}}
		x := Explain(Incident{Events: []sampler.OOMEvent{e}})
		if c := x.Causes[0]; c.ID != CauseTooBig || c.Form != "checkpoint" {
			t.Errorf("%s: %+v", what, c)
		}
	}
}

// The title says what the first line says.
func TestTitlesOfTheFirstLine(t *testing.T) {
	for text, want := range map[string]string{
		"execute this tile command:\n\tpython scripts/sr_val_ddpm_text_T_vqganfin_oldcanvas_tile.py --config stableSRNew/v2-finetune_text_T_512.yaml --skip_grid\n\nstill CUDA out of memory.\nmy cuda memory size is 15G\n": "smaller tiles",
		"gpu=1 net=a.t7 th generate.lua\nTHCudaCheck FAIL file=/tmp/cutorch/init.c line=261 error=2 : out of memory\nA quick nvidia-smi shows that the gpu I'm using has still 11GB free.\n":                                 "only the GPU that is free",
		"1、File \"train.py\", line 82, in <module>\n    model_func = model_func.cuda()\n2、 CUDA out of memory. Tried to allocate 28.27 GiB (GPU 0; 15.77 GiB total capacity; 47.02 MiB already allocated;\n":                 "the CPU",
	} {
		events, err := oomlog.Scan(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		got := Explain(Incident{Events: post.Read(text, events, oomlog.Scan)})
		if len(got.Advice) == 0 || !strings.Contains(got.Advice[0].Title, want) {
			t.Errorf("%q is not in the first title of %q: %+v", want, text, got.Advice)
		}
	}
}

// Of a batch and an input the two together are said once, wherever they stand.
func TestBatchAndInputOnce(t *testing.T) {
	const text = "Running the u-net for pictures of cells on my GPU ends with\nResourceExhaustedError (see above for traceback): OOM when allocating tensor of shape [] and type float\n [[{{node net/w/Initializer/truncated_normal/stddev}} = Const[dtype=DT_FLOAT]()]]\nOn the CPU it goes through.\n"
	events, _ := oomlog.Scan(strings.NewReader(text))
	events = post.Read(text, events, oomlog.Scan)
	if len(events) != 1 {
		t.Fatalf("%d events", len(events))
	}
	got := Explain(Incident{Events: events})
	n := 0
	for _, a := range got.Advice {
		if strings.Contains(a.Title, "batch") {
			n++
		}
	}
	if got.Advice[0].ID != FixStopOtherProcess || n != 1 {
		t.Errorf("%d times a batch, first %s", n, got.Advice[0].Title)
	}
}

// A change of versions is called so.
func TestVersionIsTheCause(t *testing.T) {
	e := sampler.OOMEvent{Framework: "pytorch", Kind: sampler.KindCUDA, MemoryKind: sampler.MemoryGPU, Context: &sampler.LogContext{Told: []string{sampler.ToldUpdate}}}
	x := Explain(Incident{Events: []sampler.OOMEvent{e}})
	if got := Title(lang.For("en"), x.Causes[0]); !strings.Contains(got, "version") || x.Advice[0].ID != FixOtherVersion {
		t.Errorf("%q, %s", got, x.Advice[0].ID)
	}
}
