package explain

import (
	"strconv"
	"strings"
	"testing"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
	"nvpeak/sampler/oomlog"
	"nvpeak/sampler/post"
	"nvpeak/sampler/tools"
)

// Every lever of a known program is said in every language.
func TestLeversAreSaid(t *testing.T) {
	for _, code := range lang.Names() {
		words, known := lang.Named(code)
		if !known {
			t.Fatal(code)
		}
		for _, tool := range tools.All() {
			for _, l := range tool.Levers {
				if !words.Has("lever." + l.By) {
					t.Errorf("%s: %s of %s: nothing says lever.%s", code, l.Type, tool.Name, l.By)
				}
			}
		}
		for _, of := range leversOf {
			if !words.Has("tool." + string(of)) {
				t.Errorf("%s: nothing says tool.%s", code, of)
			}
		}
	}
}

const refusedThere = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB. GPU 0 has a total capacity of 7.78 GiB of which 68.75 MiB is free. Including non-PyTorch memory, this process has 7.60 GiB memory in use. Of the allocated memory 7.10 GiB is allocated by PyTorch, and 130.72 MiB is reserved by PyTorch but unallocated.\n"

// What a known program has of its own is named first; what it has not is never advised first.
func TestOwnLevers(t *testing.T) {
	for _, c := range []struct{ name, text, title, do string }{
		{"in the path of a traceback", "  File \"/opt/env/lib/python3.10/site-packages/totalsegmentator/nnunet.py\", line 12, in predict\n" + refusedThere, "(TotalSegmentator)", "--force_split"},
		{"in a command, which is edited", "$ TotalSegmentator -i ct.nii.gz -o out --task total\n" + refusedThere, "(TotalSegmentator)", "TotalSegmentator -i ct.nii.gz -o out --task total --force_split"},
		{"in force already", "I run TotalSegmentator -i ct.nii -o out --force_split\n" + refusedThere, "", "--body_seg"},
	} {
		events, err := oomlog.Scan(strings.NewReader(c.text))
		if err != nil {
			t.Fatal(err)
		}
		e := Explain(Incident{Events: post.Read(c.text, events, oomlog.Scan), Lang: "en"})
		if len(e.Advice) == 0 {
			t.Errorf("%s: no advice", c.name)
			continue
		}
		first := e.Advice[0]
		if !strings.Contains(first.Title, c.title) || !strings.Contains(strings.Join(first.Do, "\n"), c.do) || first.ID == FixHalveBatchAccumulate {
			t.Errorf("%s: %s %q\n%s", c.name, first.ID, first.Title, strings.Join(first.Do, "\n"))
		}
		if c.name == "in force already" && strings.Contains(strings.Join(first.Do, "\n"), "--force_split") {
			t.Errorf("%s: it is told again", c.name)
		}
	}
}

// A run of one's own is known by its command and its files, whatever the length of the log.
func TestToolOfCommand(t *testing.T) {
	in := Incident{Command: "TotalSegmentator -i ct.nii.gz -o out", Events: []sampler.OOMEvent{{Framework: "pytorch", Kind: sampler.KindCUDA, MemoryKind: sampler.MemoryGPU,
		Requested: sampler.Some(2 * sampler.GiB), GPUTotal: sampler.Some(8 * sampler.GiB), GPUFree: sampler.Some(sampler.GiB), Allocated: sampler.Some(6 * sampler.GiB), Context: &sampler.LogContext{}}}}
	first := Explain(in).Advice[0]
	if len(first.Do) == 0 || !strings.HasPrefix(first.Do[0], in.Command+" --") {
		t.Errorf("%q %q", first.Title, first.Do)
	}
}

// A lever changes the number that a command has for it to one that needs less, and the title says the same as the line.
func TestLeverNumbers(t *testing.T) {
	for typed, want := range map[string]string{
		"--num_envs 8192":                 "--num_envs 512 -> 4096",
		"--batch 1":                       "--batch 4 -> 1",
		"--densify_grad_threshold 0.0001": "--densify_grad_threshold 0.0004 -> 0.0004",
		"--densify_grad_threshold 0.0003": "--densify_grad_threshold 0.0004 -> 0.0006",
		"-r 4":                            "-r 2 -> 8",
		"--scale 1":                       "--scale 0.25 -> 0.25",
		"--scale 0.3":                     "--scale 0.25 -> 0.15",
	} {
		lever, to, _ := strings.Cut(want, " -> ")
		_, value, _ := strings.Cut(typed, " ")
		v, _ := strconv.ParseFloat(value, 64)
		if got := lower(tools.Lever{Type: lever})(v); strconv.FormatFloat(got, 'f', -1, 64) != to {
			t.Errorf("%s: %v, want %s", typed, got, want)
		}
	}
	context := &sampler.LogContext{Phase: sampler.PhaseTraining, FirstStep: true, Files: []string{"isaaclab/train.py", "rsl_rl/runner.py"}, Functions: []string{"main", "learn", "update"}, Told: []string{sampler.ToldWork + sampler.WorkWorlds}}
	e := pytorch(gibs(2.2), gibs(31.6), gibs(0.9))
	e.Text, e.Allocated, e.ReservedUnallocated, e.ProcessInUse, e.Context = "CUDA out of memory.", gibs(21.5), gibs(0.01), gibs(30.7), context
	got := Explain(Incident{Events: []sampler.OOMEvent{e}, Command: "./isaaclab.sh -p train.py --num_envs 8192 --headless"})
	first := got.Advice[0]
	if got.Causes[0].ID != CauseTooBig || first.ID != FixHalveBatchAccumulate || !strings.Contains(first.Title, "--num_envs 4096 ") || !strings.HasPrefix(first.Do[0], "./isaaclab.sh -p train.py --num_envs 4096 --headless  # ") {
		t.Errorf("%+v\n%s %q %q", got.Causes, first.ID, first.Title, first.Do)
	}
	for i, line := range first.Do[1:] {
		if strings.HasPrefix(line, "./isaaclab.sh") {
			t.Errorf("line %d is there twice: %q", i+1, line)
		}
	}
}
