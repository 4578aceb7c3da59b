package command

import "testing"

// A script of the shell that is run without options hands none on, as far as is known.
func TestOptionBehindScript(t *testing.T) {
	for text, want := range map[string]string{
		"bash lora/train.sh":               "",
		"CUDA_VISIBLE_DEVICES=0 sh run.sh": "",
		"./run.sh":                         "",
		"sudo ./run.sh":                    "",
		"bash run.sh --lr 0.1":             "bash run.sh --lr 0.1 --batch 1",
		"./webui.sh":                       "./webui.sh --batch 1",
		"python train.py":                  "python train.py --batch 1",
	} {
		if got, ok := Parse(text).WithOption("--batch", "1"); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v, want %q", text, got, ok, want)
		}
	}
}
