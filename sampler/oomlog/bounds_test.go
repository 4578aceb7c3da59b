package oomlog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"nvpeak/sampler"
)

// A figure stands behind at most twelve signs, has a unit or is given one, and is what a GPU can hold.
func TestFigure(t *testing.T) {
	const m, g = sampler.MiB, sampler.GiB
	for text, want := range map[string]sampler.Bytes{
		"22 g": 22 * g, "22g": 22 * g, "22 gb": 22 * g, "22 gib, x": 22 * g, "'): 22 m": 22 * m, "22  g": 22 * m, "22": 22 * m, "22 x": 22 * m,
		"22 gx": 22 * m, "22 gz": 22 * m, "22 ga": 22 * m, "2.5 g/s": 5 * g / 2, "22/99 g": 22 * g, "22/9.5g": 22 * g, "22/": 22 * m, "2,048 m": 2048 * m, "22, 5": 22 * m, "22,": 22 * m,
		strings.Repeat(" ", 12) + "7 g": 7 * g, strings.Repeat(" ", 13) + "7 g": 0, "x7 g": 0, "": 0, "1 k": 0, "1 m": m, "0 m": 0,
		"16 t": 16 * sampler.TiB, "16.1 t": 0, "16777216 m": 16 * sampler.TiB, "16777217 m": 0,
	} {
		if got := figure([]byte(text), m); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if got := figure([]byte("22"), 0); got != 0 {
		t.Errorf("a number without a unit is %v", got)
	}
	before := memoryRow{word: "b allocated", before: true}
	for text, want := range map[string]sampler.Bytes{"12.5 gb allocated": 25 * g / 2, "12gib allocated": 12 * g, "x 3 mb allocated": 3 * m, "b allocated": 0,
		"1234567890123456 gb allocated": 0, "1 tb allocated": sampler.TiB, "2048 kb allocated": 2 * m} {
		if got := before.read([]byte(text), strings.Index(text, "b allocated")); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestUltralyticsRow(t *testing.T) {
	for line, want := range map[string]sampler.Bytes{
		"1/25 2G x": 2 * sampler.GiB, " \t12345/5   0.5G x": sampler.GiB / 2, "123456/5 2G x": 0, "/5 2G x": 0, "1/ 2G x": 0, "1/5": 0, "1": 0, "1/5x 2G x": 0,
		"1/5 G x": 0, "1/5 2M x": 0, "1/5 2G": 0, "1/5 0G x": 0, "1/5 -1G x": 0, "1/5 16384G x": 16 * sampler.TiB, "1/5 16385G x": 0, "1/5 aG x": 0, "1-5 2G x": 0,
	} {
		if _, got := ultralytics([]byte(line)); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}

func TestRankOfLine(t *testing.T) {
	for line, want := range map[string]string{
		"[rank3]: x": "[rank3", "[Rank 12] x": "[Rank 12", "[rank3": "", "[rank]": "", "[rank1]": "[rank1", "[rink3] x": "", "[rank" + strings.Repeat("1", 10) + "]": "[rank1111111111",
		"[rank" + strings.Repeat("1", 11) + "]": "", "(worker pid=12) x": "(worker pid=12", "(worker id=12) x": "", "(pid=12": "", "": "", "x": "",
		"(pid=" + strings.Repeat("1", 54) + ")": "(pid=" + strings.Repeat("1", 54), "(pid=" + strings.Repeat("1", 55) + ")": "",
	} {
		if got := rankOf([]byte(line)); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// A book of figures holds 64; then neighbors become one. Epochs and prints are not mixed, nor are ranks.
func TestMemoryBook(t *testing.T) {
	var epochs, prints memoryBook
	for i := range maxStretches + 1 {
		epochs.perEpoch(i+1, sampler.Bytes(i))
		epochs.perEpoch(i+1, 0)
		prints.perPrint(sampler.Bytes(i))
	}
	for name, m := range map[string]*memoryBook{"epochs": &epochs, "prints": &prints} {
		if v := m.list(); len(v) != maxStretches/2+1 || v[0] != 1 || v[31] != 63 || v[32] != 64 {
			t.Errorf("%s: %v", name, v)
		}
	}
	for _, v := range []sampler.Bytes{99, 65, 66} { // two prints in a value now
		prints.perPrint(v)
	}
	if v := prints.list(); len(v) != maxStretches/2+2 || v[32] != 99 || v[33] != 66 {
		t.Errorf("prints go on with %v", v[32:])
	}
	epochs.perPrint(5)
	prints.perEpoch(1, 7)
	if v := epochs.list(); len(v) != maxStretches/2+1 {
		t.Errorf("a print among epochs: %v", v)
	}
	if v := prints.list(); !slices.Equal(v, []sampler.Bytes{7}) {
		t.Errorf("the first epoch after prints: %v", v)
	}
	prints.perEpoch(1, 9)
	prints.perEpoch(1, 8)
	prints.perEpoch(0, 3)
	if v := prints.list(); !slices.Equal(v, []sampler.Bytes{3}) {
		t.Errorf("epochs that begin again: %v", v)
	}
}

// How long a step took stands before or behind its word.
func TestPaceFigures(t *testing.T) {
	for line, want := range map[string]float64{
		"2.5s/it": 2.5, "x 2.5 s/it": 2.5, "4it/s": 0.25, "s/it": 0, "1 2s/it, 3s/it": 3, "9 time/iteration: 3": 0, "0s/it": 0,
		strings.Repeat("1", 8) + "s/it": 11111111, "1" + strings.Repeat("0", 9) + "s/it": 0, strings.Repeat("9", 9) + "s/it": 999999999, "a" + strings.Repeat("0", 14) + "12s/it": 12, "3" + strings.Repeat("0", 15) + "4s/it": 4,
	} {
		row := paceRow{word: "s/it", before: true}
		if strings.HasSuffix(line, "it/s") {
			row = paceRow{word: "it/s", before: true, rate: true}
		}
		if got := row.read([]byte(line)); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
	behind := paceRow{word: " time: ", needs: "data_time: "}
	for line, want := range map[string]float64{"x time: 0.5, data_time: 1": 0.5, "x time: 0.5": 0, "data_time: 1 time: '3e+1": 30, "data_time: 1 time: 5e-1x": 0.5, "data_time: 1 time: 0": 0, "data_time: 1 time: 9": 9, "data_time: 1 time: x": 0} {
		if got := behind.read([]byte(line)); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}

// All of the first 48 figures are read and one of 16 later ones; when 256 are kept every other one goes.
func TestPaceBook(t *testing.T) {
	var p paceBook
	for i := range 160 {
		p.add([]byte(fmt.Sprintf("%ds/it", i+1)))
	}
	if n := len(p.values); n != 48+7 || p.values[47] != 48 || p.values[48] != 64 || p.values[54] != 160 {
		t.Errorf("%d figures: %v", n, p.values)
	}
	p.add([]byte("5it/s")) // of another form
	p = paceBook{}
	for i := range maxPaces + 4 {
		p.keep(float64(i))
	}
	if n := len(p.values); n != maxPaces/2+2 || p.values[1] != 2 || p.values[127] != 254 || p.values[128] != 256 || p.values[129] != 258 {
		t.Errorf("%d figures are kept, the last are %v", n, p.values[127:])
	}
	p = paceBook{values: []float64{99, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3}}
	if got := p.slowdown(); got != 0 {
		t.Errorf("eleven figures give a slowdown of %v", got)
	}
	if p.values = append(p.values, 3); p.slowdown() != 3 {
		t.Errorf("slowdown %v, want 3", p.slowdown())
	}
}

// Numbers that cannot be are dropped, and said so.
func TestDerived(t *testing.T) {
	amount := func(v sampler.Bytes) sampler.Opt[sampler.Bytes] { return sampler.Some(v) }
	m := &message{}
	m.origin.rank = -1
	for name, row := range map[string]struct {
		event    sampler.OOMEvent
		sentinel string // in it; "": none
	}{
		"nothing odd":           {sampler.OOMEvent{Requested: amount(1), GPUTotal: amount(9), GPUFree: amount(9), Allocated: amount(9), ProcessInUse: amount(1)}, ""},
		"a request of 0":        {sampler.OOMEvent{Requested: amount(0)}, "0 bytes cannot fail"},
		"nothing in use":        {sampler.OOMEvent{ProcessInUse: amount(0), Allocated: amount(1)}, "not available"},
		"nothing at all":        {sampler.OOMEvent{ProcessInUse: amount(0), Allocated: amount(0)}, ""},
		"allocated above total": {sampler.OOMEvent{GPUTotal: amount(9), Allocated: amount(10)}, "allocated above total"},
		"free above total":      {sampler.OOMEvent{GPUTotal: amount(9), GPUFree: amount(10)}, "free above total"},
		"no total":              {sampler.OOMEvent{GPUTotal: amount(0), GPUFree: amount(10), Allocated: amount(10)}, ""},
	} {
		f := &findings{}
		f.OOMEvent = row.event
		f.fillDerived(m)
		text, _ := f.Extra["sentinel"].(string)
		if (text != "") != (row.sentinel != "") || !strings.Contains(text, row.sentinel) || row.sentinel == "" && f.Extra != nil {
			t.Errorf("%s: %v", name, f.Extra)
		}
		if f.Rank.Known() || f.PID.Known() {
			t.Errorf("%s: rank %v, pid %v", name, f.Rank, f.PID)
		}
	}
	m.origin.rank, m.origin.pid = 0, 1
	f := &findings{}
	if f.fillDerived(m); f.Rank != sampler.Some(0) || f.PID != sampler.Some(1) {
		t.Errorf("rank %v, pid %v", f.Rank, f.PID)
	}
}

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{"a b": "a b", " a b": "a b", "a b ": "a b", "a  b": "a b", "a\tb\n c": "a b c", "": ""} {
		if got := oneLine(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestStripEscapes(t *testing.T) {
	var scratch []byte
	for text, want := range map[string]string{"a": "a", "\x1b[31ma\x1b[0mb": "ab", "a\x1b[": "a", "a\x1b[31": "a", "a\x1b": "a", "a\x1bb": "ab", "a\x1b[@b": "ab", "a\x1b[~b": "ab", "\x1b[K\x1b[1;2Hx": "x"} {
		if got := string(stripEscapes([]byte(text), &scratch)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestSplitBars(t *testing.T) {
	const bar = "10%|# | 1/10 [00:01<00:09, 1.0it/s]"
	for text, want := range map[string][]string{
		"plain": {"plain"}, "a/b": {"a/b"}, "a] b": {"a] b"}, "a] b/c": {"a] b/c"}, bar: {bar}, bar + "  ": {bar + "  "}, bar + "error": {bar, "error"}, bar + "x " + bar + "y": {bar, "x " + bar, "y"},
	} {
		if got := splitBars(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// A run is in its first step as long as no line shows a finished one, and at the latest in its first epoch.
func TestFirstStep(t *testing.T) {
	some := sampler.Some[int]
	for name, row := range map[string]struct {
		context sampler.LogContext
		steps   bool
		phase   string
		first   bool
	}{
		"nothing known":        {sampler.LogContext{}, false, "", false},
		"a step":               {sampler.LogContext{Step: some(0)}, false, sampler.PhaseTraining, true},
		"a finished step":      {sampler.LogContext{Step: some(1)}, true, sampler.PhaseTraining, false},
		"the first epoch":      {sampler.LogContext{Epoch: some(1)}, false, sampler.PhaseTraining, true},
		"the second":           {sampler.LogContext{Epoch: some(2)}, false, sampler.PhaseTraining, false},
		"a step of the second": {sampler.LogContext{Epoch: some(2), Step: some(0)}, false, sampler.PhaseTraining, true},
		"validation":           {sampler.LogContext{Epoch: some(1), Phase: sampler.PhaseValidation}, false, sampler.PhaseValidation, false},
	} {
		c := gathered{LogContext: row.context, steps: row.steps}
		if c.conclude(sampler.KindCUDA, nil, 0); c.Phase != row.phase || c.FirstStep != row.first {
			t.Errorf("%s: phase %q, first step %v", name, c.Phase, c.FirstStep)
		}
	}
	for kind, want := range map[string]string{sampler.KindKVCache: sampler.PhaseLoading, sampler.KindStartupFree: sampler.PhaseLoading, sampler.KindWarmup: sampler.PhaseLoading,
		sampler.KindStaticPool: sampler.PhaseLoading, sampler.KindGGML: sampler.PhaseLoading, sampler.KindXLA: ""} {
		c := gathered{}
		if c.conclude(kind, nil, 0); c.Phase != want {
			t.Errorf("%s: phase %q", kind, c.Phase)
		}
	}
	c := gathered{phases: []string{sampler.PhaseTraining, sampler.PhaseInference}}
	if c.conclude(sampler.KindCUDA, nil, 0); c.Phase != sampler.PhaseTraining {
		t.Errorf("inference within training is %q", c.Phase)
	}
	c = gathered{phases: []string{sampler.PhaseLoading, sampler.PhaseInference}}
	if c.conclude(sampler.KindCUDA, nil, 0); c.Phase != sampler.PhaseInference {
		t.Errorf("inference after loading is %q", c.Phase)
	}
}

// A report tells when the error comes up to six lines below it.
func TestToldBelow(t *testing.T) {
	for below, want := range map[int]string{0: "", 1: sampler.PhaseValidation, 6: sampler.PhaseValidation, 7: ""} {
		log := "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
		for range below - 1 {
			log += "-\n"
		}
		if below > 0 {
			log += "The error comes during validation\n"
		}
		events, err := Scan(strings.NewReader(log))
		if err != nil || len(events) != 1 {
			t.Fatal(events, err)
		}
		phase := ""
		if c := events[0].Context; c != nil {
			phase = c.Phase
		}
		if phase != want {
			t.Errorf("told %d lines below: phase %q, want %q", below, phase, want)
		}
	}
}
