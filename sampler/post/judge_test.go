package post

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nvpeak/sampler"
	"nvpeak/sampler/oomlog"
)

// Texts about failures report none, whatever they show, and reports are found however they are worded.
func TestAboutAndReports(t *testing.T) {
	for dir, reports := range map[string]bool{"about": false, "reports": true} {
		files, err := filepath.Glob("../../testdata/posts/" + dir + "/*.txt")
		if err != nil || len(files) == 0 {
			t.Fatal(dir, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if events := read(t, string(text)); (len(events) > 0) != reports {
				t.Errorf("%s: %d failures %+v", file, len(events), events)
			}
		}
	}
}

// Logs speak of failures in no words but their own, some of which are those of guides ("Root Cause").
func TestLogsStay(t *testing.T) {
	files, err := filepath.Glob("../../testdata/oom/*/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		events, err := oomlog.Scan(strings.NewReader(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		if left := Read(string(text), events, oomlog.Scan); len(left) < len(events) {
			t.Errorf("%s: %d of %d failures left", file, len(left), len(events))
		}
	}
}

// What a message shows of its own keeps it in a text that speaks of such failures.
func TestProofOutweighs(t *testing.T) {
	few := sampler.OOMEvent{Extra: map[string]any{"told": true}}
	sized := sampler.OOMEvent{Requested: sampler.Some(sampler.Bytes(1 << 30))}
	full := sized
	full.GPUTotal, full.GPUFree = sampler.Some(sampler.Bytes(8<<30)), sampler.Some(sampler.Bytes(1<<20))
	run := full
	run.Context = &sampler.LogContext{Functions: []string{"forward"}, Command: "python train.py"}
	for i, e := range []sampler.OOMEvent{sized, full, run} {
		if less := []sampler.OOMEvent{few, sized, full}[i]; proof(e) <= proof(less) {
			t.Errorf("%d: %d and %d", i, proof(less), proof(e))
		}
	}
}

// Each clue has a weight, a reason of its own and a bound, so that no wording alone decides.
func TestClues(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range append(append([]clue{}, genres...), voices...) {
		if c.weight == 0 || c.most < 1 || c.why == "" || seen[c.why] {
			t.Errorf("%q: weight %d, most %d", c.why, c.weight, c.most)
		}
		seen[c.why] = true
	}
}

// Whoever says that it is another problem reports none, in any language. Who asks whether it is this one, or denies a cause of it, does.
func TestOtherProblems(t *testing.T) {
	for text, reports := range map[string]bool{
		"I use torch and the kernel hangs. It is not an issue of CUDA out of memory.":                   false,
		"My job hangs on an A100. I don't think it's an OOM, half of the memory is free.":               false,
		"My job hangs on an A100. That can't be an out of memory error.":                                false,
		"My job hangs on an A100, and we ruled out an OOM.":                                             false,
		"My job hangs on an A100, which is unrelated to the OOM of #12.":                                false,
		"My run gives nan on a 3090. Out of memory is not the problem here.":                            false,
		"I get CUDA out of memory on a 3090. It is not a problem of the batch size.":                    true,
		"It is not because of my batch size, it runs out of memory with 1 too on my GPU.":               true,
		"My GPU is new, and not because of that my training runs out of memory each time.":              true,
		"我用 torch 训练，程序卡住了，不是显存不足的问题。":                                                                  false,
		"我用 torch 训练，程序卡住了，与显存不足无关。":                                                                    false,
		"我用 torch 训练报错了，请问是不是显存不足？":                                                                     true,
		"私の学習が途中で止まりました。GPUのメモリ不足ではないと思います。":                                                            false,
		"제가 학습을 돌렸는데 멈췄습니다. GPU 메모리 부족은 아닙니다.":                                                          false,
		"У меня зависает обучение на GPU. Это не из-за нехватки видеопамяти.":                           false,
		"Mi script se cierra en la GPU. No es un problema de falta de memoria.":                         false,
		"Meu script trava na GPU. Não é um problema de falta de memória.":                               false,
		"Mon script plante sur la GPU. Ce n'est pas un problème de manque de mémoire.":                  false,
		"Il mio script si blocca sulla GPU. Non è un problema di out of memory.":                        false,
		"Mijn script hangt op de GPU. Het is geen out of memory, de helft is vrij.":                     false,
		"Mein Skript hängt auf der GPU. Das ist kein Speicherüberlauf, die Hälfte ist frei.":            false,
		"Mein Skript bricht auf der GPU ab, der VRAM ist voll. Es liegt nicht an der Größe der Bilder.": true,
	} {
		if events := read(t, text); (len(events) > 0) != reports {
			t.Errorf("%s: %d failures", text, len(events))
		}
	}
}

// Who says that the program runs all the same has met a warning of its allocator. What he asks of it, or under which condition it
// runs, is another matter.
func TestRunsAllTheSame(t *testing.T) {
	const warns = "right after the first step it says `ran out of memory trying to allocate 712.50MiB`\n"
	for text, want := range map[string]bool{
		warns + "The model runs in the end, but is there any way to fix this?":         true,
		warns + "The script runs fine but I wonder if that costs time.":                true,
		warns + "The script runs fine.":                                                true,
		warns + "With a smaller image the script runs fine.":                           false,
		warns + "The script runs fine until the second epoch.":                         false,
		warns + "The script runs fine but the job crashed at the end.":                 false,
		warns + "I use a GTX 970.":                                                     false,
		"RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB.\nIt runs fine.": false,
	} {
		if events := read(t, text); len(events) != 1 || events[0].Recovered != want {
			t.Errorf("%q: %+v", text, events)
		}
	}
}
