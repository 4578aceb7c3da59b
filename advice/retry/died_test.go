package retry

import (
	"strings"
	"testing"

	"nvpeak/advice/explain"
	"nvpeak/sampler/oomlog"
)

// A run is tried again only where a failure of GPU memory was the last thing that happened to it.
func TestDied(t *testing.T) {
	const host = "RuntimeError: [enforce fail at alloc_cpu.cpp:114] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 68719476736 bytes. Error code 12 (Cannot allocate memory)"
	for _, row := range []struct {
		log   string
		code  int
		after string
		want  string
	}{
		{tooBig, 1, "", ""},
		{tooBig, 1, "  warnings.warn(\nwandb: epoch 3\nwandb: step 17\n", ""},
		{tooBig, 1, "[rank1]: torch.distributed.DistBackendError: NCCL error\ntorch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n====\ntrain.py FAILED\n", ""},
		{tooBig, 1, "ValueError: bad loss\ntorch.OutOfMemoryError: CUDA out of memory\n", ""},
		{tooBig, 1, "\nThe above exception was the direct cause of the following exception:\n\nTraceback (most recent call last):\nRuntimeError: training failed\n", ""},
		{tooBig, 1, "KeyError: 'x'\n\nDuring handling of the above exception, another exception occurred:\n\nValueError: y\nResourceWarning: unclosed\n", "other_end"},
		{tooBig, 1, "epoch 3:  45%\repoch 3:  45%\r", ""},
		{tooBig, 134, "Aborted (core dumped)\n", ""},
		{tooBig, 42, "\n", ""},
		{tooBig, 1, "step 900\nstep 901\nValueError: bad loss\n", "other_end"},
		{tooBig, 1, "Traceback (most recent call last):\n  File \"x\"\nmymod.errors.KeyError: 'x'\n", "other_end"},
		{tooBig, 1, "step 900\nstep 901\nstep 902\nstep 903\nstep 904\nstep 905\nstep 906\nstep 907\nstep 908\nstep 909\n", "other_end"},
		{tooBig, 1, "step 900\nstep 901\n", ""}, // printed before, to another file than the traceback
		{tooBig, 1, "cp: error writing 'x': No space left on device\n", "other_end"},
		{tooBig, 1, "KeyboardInterrupt\n", "other_end"},
		{tooBig, 1, "disk full\n", "other_end"},
		{tooBig, 1, "Error: could not open labels.csv\n", "other_end"},
		{tooBig, 1, "srun: error: node1: task 0: Exited with exit code 1\n", ""},
		{tooBig, 2, "make: *** [Makefile:2: train] Error 1\n", ""},
		{tooBig, 1, "ERROR conda.cli.main_run:execute(49): `conda run python t.py` failed. (See above for error)\n", ""},
		{tooBig, 1, "E1122 10:00:00.000 4711 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) local_rank: 0 (pid: 4712)\n", ""},
		{tooBig, 1, "terminate called after throwing an instance of 'c10::OutOfMemoryError'\nRun summary: loss 2.1\nSaved nothing\n", ""},
		{tooBig, 3, "giving up: the data is bad\n", "other_end"},
		{tooBig, 137, "", "signal"},
		{tooBig, 130, "", "signal"},
		{tooBig, 143, "", "signal"},
		{tooBig, 127, "", "not_started"},
		{tooBig + "\nWARNING: out of memory, skipping batch", 1, "", "not_memory"},
		{host, 1, "", "host"},
		{tooBig + "\n" + host, 1, "", "host"},
	} {
		events, err := oomlog.Scan(strings.NewReader(row.log + "\n"))
		if err != nil || len(events) == 0 {
			t.Fatalf("%.80s: %v", row.log, err)
		}
		got := ""
		if no := Died(explain.Explain(explain.Incident{Events: events}), row.code, row.after); no != nil {
			got = strings.TrimPrefix(no.id, "retry.")
		}
		if got != row.want {
			t.Errorf("exit %d, %.60s… %q: %q, want %q", row.code, row.log, row.after, got, row.want)
		}
	}
}

// What a change has brought is told by the place of the death, and then by what was missing.
func TestCompare(t *testing.T) {
	half := strings.Replace(tooBig, "20.00 MiB", "10.00 MiB", 1)
	for _, row := range []struct {
		before, after string
		want          Gain
	}{
		{tooBig, tooBig, Same},
		{tooBig, half, Better},
		{half, tooBig, Same},
		{"epoch 3 step 10\n" + tooBig, "epoch 3 step 90\n" + tooBig, Better},
		{"epoch 3 step 10\n" + tooBig, "epoch 2 step 90\n" + tooBig, Worse},
		{"epoch 3 step 10\n" + tooBig, "epoch 3 step 9\n" + half, Worse},
		{"epoch 3 step 10\n" + tooBig, "epoch 3 step 10\n" + tooBig, Same},
	} {
		if got := Compare(explained(t, row.before), explained(t, row.after)); got != row.want {
			t.Errorf("%.30q… then %.30q…: %d, want %d", row.before, row.after, got, row.want)
		}
	}
}

func TestResume(t *testing.T) {
	latest := func(glob string) string {
		return map[string]string{"": "ckpt/9.pt", "runs/*.pt": "runs/a b.pt"}[glob]
	}
	for _, row := range [][2]string{
		{"--resume {latest}", "--resume|ckpt/9.pt"},
		{"--resume={latest:runs/*.pt} --strict", "--resume=runs/a b.pt|--strict"},
		{"resume=True", "resume=True"},
		{"'--go on' {latest}", "--go on|ckpt/9.pt"},
		{"--resume {latest:none/*.pt}", "missing none/*.pt"},
		{"", "bad"}, {"--resume {lastest}", "bad"}, {"--resume {latest", "bad"}, {"--resume {}", "bad"},
		{"--resume {latest:}", "bad"}, {"--resume {latest:[a}", "bad"}, {"--resume {latest:a/**/b}", "bad"},
		{"--resume 'oops", "bad"}, {"--resume $HOME/x", "bad"}, {"--resume x; rm y", "bad"}, {"--resume $(ls)", "bad"},
		{"--resume x > y", "bad"}, {"--resume {latest} | cat", "bad"}, {"(--resume x)", "bad"}, {"--resume x &", "bad"},
	} {
		r, err := ParseResume(row[0])
		got := "bad"
		if err == nil {
			words, missing, ok := r.Fill(latest)
			if got = strings.Join(words, "|"); !ok {
				got = "missing " + missing
			}
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: more than a line: %v", row[0], err)
		}
		if got != row[1] {
			t.Errorf("%q: %q, want %q (%v)", row[0], got, row[1], err)
		}
	}
	for _, row := range [][2]string{
		{"python|t.py", "python|t.py|--resume|a b"},
		{"bash|-c|python t.py | tee log", "bash|-c|python t.py --resume 'a b' | tee log"},
		{"bash|-c|python a.py; python b.py", ""},
		{"sh|train.sh", "sh|train.sh|--resume|a b"},
		{"bash|-c|python t.py \"$@\"|x|--batch-size|8", "bash|-c|python t.py \"$@\"|x|--batch-size|8|--resume|a b"},
	} {
		args, ok := Append(splitWords(row[0]), []string{"--resume", "a b"})
		if got := strings.Join(args, "|"); ok && got != row[1] || ok != (row[1] != "") {
			t.Errorf("%s: %s, %v", row[0], got, ok)
		}
	}
}

// Lines of progress may be older than what stands before them, where two outputs are apart.
func TestWithoutProgress(t *testing.T) {
	if got := WithoutProgress("step 7 loss 1\repoch 2\nKeyError: 1\nglobal_step=8\n"); got != "KeyError: 1\n" {
		t.Errorf("%q", got)
	}
}
