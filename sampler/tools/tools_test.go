package tools

import (
	"net/url"
	"strings"
	"testing"
)

// Each program is told by words of its own, and says where its levers were read.
func TestRows(t *testing.T) {
	names, owners := map[string]bool{}, map[string]string{}
	for _, tool := range All() {
		if names[tool.Name] {
			t.Errorf("%s is there twice", tool.Name)
		}
		names[tool.Name] = true
		if u, err := url.Parse(tool.Source); err != nil || u.Scheme != "https" || u.Host == "" {
			t.Errorf("%s: source %q", tool.Name, tool.Source)
		}
		if len(tool.Words) == 0 || len(tool.Levers) == 0 || len(tool.Levers) > 5 {
			t.Errorf("%s: %d words, %d levers", tool.Name, len(tool.Words), len(tool.Levers))
		}
		for _, w := range tool.Words {
			var all []string
			each(w, func(word, _ string) { all = append(all, word) })
			if len(all) != 1 || len(all[0]) < 3 {
				t.Errorf("%s: %q is %d words: %v", tool.Name, w, len(all), all)
				continue
			}
			if other := owners[all[0]]; other != "" && other != tool.Name {
				t.Errorf("%q is of %s and of %s", w, other, tool.Name)
			}
			owners[all[0]] = tool.Name
		}
		for _, l := range tool.Levers {
			switch l.Of {
			case Batch, Input, Model, Bits, Offload, Checkpointing, Validation, Context:
			default:
				t.Errorf("%s: %q is of %q", tool.Name, l.Type, l.Of)
			}
			if l.Type == "" || l.By == "" || strings.ContainsAny(l.Type, "\n\t#{}") {
				t.Errorf("%s: %q, %q", tool.Name, l.Type, l.By)
			}
		}
		switch tool.Does {
		case Either, Trains, Runs:
		default:
			t.Errorf("%s does %q", tool.Name, tool.Does)
		}
		if Named(tool.Name) == nil {
			t.Errorf("%s is not found by its name", tool.Name)
		}
	}
}

// The program that a text names most often is meant, however its name is written.
func TestIn(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "",
		"CUDA out of memory in train.py":        "",
		"TotalSegmentator -i ct.nii -o out":     "TotalSegmentator",
		"I ran total-segmentator on a 6 GB GPU": "TotalSegmentator",
		`File "/usr/lib/python3/site-packages/totalsegmentator/nnunet.py"`:                    "TotalSegmentator",
		"python inference_realesrgan.py -i in.png":                                            "Real-ESRGAN",
		"as in totalsegmentator, but real-esrgan, realesrgan here":                            "Real-ESRGAN",
		"totalsegmentator==2.0.5\nfairseq                 0.12.2\n- monai=1.2\nnnunetv2>=2.1": "",
		"nnunetv2, nnunetv2, nnunetv2, totalsegmentator":                                      "TotalSegmentator",
		"realesrganx": "",
		"a.yaml:\n  IPAdapter: false\n  steps: 25\n":                                 "",
		"{\"demucs\": None, \"totalsegmentator\"=true}":                              "",
		"使用verl框架训练":                                                                 "verl",
		"IP-Adapter: fails on 8 GB":                                                  "IP-Adapter",
		"instant-ngp fails\nns-train instant-ngp --data scene":                       "nerfstudio",
		"ns-train splatfacto --data scene":                                           "Splatfacto",
		"instant-ngp --scene fox, nerfstudio is slower":                              "instant-ngp",
		"python tools/train.py configs/yolox/yolox_s.py\nmmdet/apis/train.py":        "MMDetection",
		"python tools/train.py configs/yolox/yolox_s.py":                             "YOLOX",
		"YOLOX ends with\nsite-packages/mmdet/models/detectors/yolox.py, line 77":    "MMDetection",
		"fairseq train -sourcelang de -model fconv -nenclayer 4":                     "fairseq-lua",
		"fairseq-train data --arch fconv --source-lang de":                           "fairseq",
		"DeepFaceLabCUDA10.1AVX ends":                                                "DeepFaceLab",
		"llamafactory-cli train --model_name_or_path THUDM/chatglm2-6b, chatglm2-6b": "LLaMA-Factory",
		strings.Repeat("a", 1000) + "realesrgan":                                     "",
	} {
		got := ""
		if tool := In(text); tool != nil {
			got = tool.Name
		}
		if got != want {
			t.Errorf("%.60q: %q, want %q", text, got, want)
		}
	}
}

// What only a training has changes nothing in a program that runs a model.
func TestAt(t *testing.T) {
	tool := Tool{Levers: []Lever{{Bits, "--half", "half16"}, {Batch, "-b 1", "accumulate"}, {Batch, "--train_batch 1", "half"}}}
	if got := tool.At(Runs); len(got) != 1 || got[0].Type != "--half" {
		t.Errorf("%v", got)
	}
	if got := tool.At(Trains); len(got) != 3 {
		t.Errorf("%v", got)
	}
	chat := Tool{Running: []string{"--load-8bit"}, Levers: []Lever{{Bits, "--load-8bit", "bits8"}, {Batch, "--train_batch 1", "half"}}}
	if got := chat.At(Trains); len(got) != 1 || got[0].Of != Batch {
		t.Errorf("an option of what runs a model in a training: %v", got)
	}
	if tool.For = Trains; len(tool.At(Runs)) != 0 {
		t.Error("a program whose levers are of its training has some for running it")
	}
}

// A lever is an option of the script before it, or a line of those in brackets. A script alone is to be run, and settings are read by each.
func TestScripts(t *testing.T) {
	for lever, want := range map[string]string{
		"run_tile.py --tile 64": "run_tile.py", "run_tile.py": "", "--tile 64": "", "bs = 8 (a.py, b.py)": "a.py b.py", "batch_size = 4 (config.py)": "", "casting.py": "", "f(x)": "",
	} {
		if got := strings.Join(Lever{Type: lever}.Scripts(), " "); got != want {
			t.Errorf("%s: %q, want %q", lever, got, want)
		}
	}
}

func FuzzIn(f *testing.F) {
	f.Add("TotalSegmentator and \xff\xfe real_ESRGAN")
	f.Fuzz(func(t *testing.T, text string) { In(text) })
}

func BenchmarkIn(b *testing.B) {
	text := strings.Repeat(`  File "/opt/env/lib/python3.10/site-packages/torch/nn/modules/module.py", line 1518, in _call_impl`+"\n", 300)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		In(text)
	}
}
