package hearsay

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Passages that were not learned from, by other writers than those that were: most of what they tell is found, most of what is said is right, and
// passages that tell nothing say little.
func TestHeldOut(t *testing.T) {
	files, _ := filepath.Glob("../../testdata/tellings/held-*.jsonl")
	var told, said, right, none, wrongly int
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for in := bufio.NewScanner(f); in.Scan(); {
			var p struct {
				Labels []string
				Text   string
			}
			if err := json.Unmarshal(in.Bytes(), &p); err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, s := range Of(p.Text) {
				names = append(names, s.Name)
			}
			said += len(names)
			if p.Labels[0] == "none" {
				none++
				if len(names) > 0 {
					wrongly++
				}
				continue
			}
			told += len(p.Labels)
			for _, l := range p.Labels {
				if slices.Contains(names, l) {
					right++
				}
			}
		}
	}
	t.Logf("%d of %d tellings found; %d of %d said are right; %d of %d passages without one say something", right, told, right, said, wrongly, none)
	if told < 1000 || right < told*6/10 || right < said*85/100 || wrongly > none/10 {
		t.Error("too little, or too much of it wrong")
	}
}

// Whatever stands in a passage, it is read without an accident, and the same passage says the same.
func FuzzOf(f *testing.F) {
	for _, s := range []string{"", "Memory grows by 20 MB each step until it dies.", "v1.2.3 12x 50% 137 #", "\xff\x00’n't", "第 3 步 显存"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if a, b := Of(s), Of(s); !slices.Equal(a, b) {
			t.Errorf("%q: %v, then %v", s, a, b)
		}
		for _, p := range learned().Sure(Features(s)) {
			if !(p >= 0 && p <= 1) {
				t.Errorf("%q: %v", s, p)
			}
		}
	})
}

// What was packed is what is unpacked; anything else is an error and no accident.
func TestPack(t *testing.T) {
	tellings := []Telling{{"late", -1, 0.5, 0.4}, {"growth", -2, 0.25, 0.5}}
	m, err := Unpack(Pack(tellings, []uint32{7, 9}, map[uint32][]float32{7: {1, 0}, 9: {-0.5, 0.5}}))
	if err != nil || !slices.Equal(m.Tellings, tellings) {
		t.Fatalf("%+v, %v", m, err)
	}
	if got := m.weights[9]; !slices.Equal(got, []weight{{0, -1}, {1, 2}}) || len(m.weights[7]) != 1 {
		t.Errorf("%v", m.weights)
	}
	for _, broken := range [][]byte{nil, packed[:100], packed[:len(packed)/2], []byte("no weights")} {
		if _, err := Unpack(broken); err == nil {
			t.Errorf("%d bytes of it are read", len(broken))
		}
	}
}

func BenchmarkOf(b *testing.B) {
	const passage = "It trains fine for the first 37 epochs, about three hours, and then it stops with this error. I have tried a smaller batch."
	for b.Loop() {
		Of(passage)
	}
}

func TestWordsOf(t *testing.T) {
	for passage, want := range map[string][]string{
		"It doesn't fit: 7.5GB at epoch 12, 45% of v1.2.3!": {"it", "does", "not", "fit", "#gb", "at", "epoch", "#", "#%", "of", "#ver"},
		"Batch size 1, the 6th one (512x512)?":              {"batch", "size", "1", "the", "#th", "one", "#x#", "?"},
		"exit code 137":                                     {"exit", "code", "#137"},
		"显存不足，GPU满了":                                        {"显", "存", "不", "足", "gpu", "满", "了"},
		"":                                                  nil,
	} {
		if got := wordsOf(passage); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", passage, got, want)
		}
	}
}
