package explain

import (
	"regexp"
	"strings"
	"testing"

	"nvpeak/sampler"
	"nvpeak/sampler/tools"
)

// python are lines that are of use in one's own Python only.
var python = regexp.MustCompile(`\btorch\.|\bloss\b|\.append\(|^with |\bmodel\.|^import |from_pretrained|DataLoader|pip install`)

// Who runs a compiled program is told nothing of Python, however it fails and whatever library it computes with.
func TestCompiledPrograms(t *testing.T) {
	climb := amounts(7000, 9000, 11000, 13000, 15000, 17000, 19000, 21000, 23000, 25000, 27000, 29000, 31000)
	for _, tool := range tools.All() {
		if !tool.Native {
			continue
		}
		for _, phase := range []string{"", sampler.PhaseTraining, sampler.PhaseInference} {
			for what, history := range map[string]*History{"alone": nil, "growing": {Age: sampler.Some(1500.0), Process: mibs(31500), Peaks: climb}} {
				e := pytorch(gibs(1.1), gibs(31.74), gibs(0.97))
				e.Text, e.Allocated, e.ReservedUnallocated, e.ProcessInUse = "CUDA out of memory.", gibs(30.4), gibs(0.02), gibs(30.77)
				e.Context = &sampler.LogContext{Phase: phase, Told: []string{sampler.ToldWork + sampler.WorkAtoms}, Functions: []string{"forward"}}
				got := Explain(Incident{Events: []sampler.OOMEvent{e}, Histories: []*History{history}, Command: tool.Words[1%len(tool.Words)] + " -in input"})
				for _, a := range got.Advice {
					for _, line := range strings.Split(strings.Join(a.Do, "\n"), "\n") {
						if python.MatchString(line) {
							t.Errorf("%s, %s %s: %s: %q", tool.Name, what, phase, a.ID, line)
						}
					}
				}
				if len(got.Advice) == 0 || history != nil && (got.Causes[0].ID != CauseLeak || got.Advice[0].ID != FixLeak || !strings.Contains(got.Advice[0].Title, tool.Name)) {
					t.Errorf("%s, %s %s: %v %+v", tool.Name, what, phase, got.Causes[0], got.Advice)
				}
			}
		}
	}
}

// What came while a program ran is why it failed, also where nobody knows how much it asked for.
func TestOthersCame(t *testing.T) {
	e := sampler.OOMEvent{Framework: "pytorch", Kind: sampler.KindCUDAError, MemoryKind: sampler.MemoryGPU, Text: "out of memory"}
	h := &History{Total: gibs(11.7), Free: gibs(1.55), Process: gibs(3.2), Peaks: amounts(3300, 3300, 3300), Others: []Neighbor{{PID: 9, Name: "ollama", Bytes: gibs(6.9).Or(0), Arrived: true}}}
	got := Explain(Incident{Events: []sampler.OOMEvent{e}, Histories: []*History{h}, Command: "gmx mdrun -deffnm npt"})
	if got.Causes[0].ID != CauseOtherProcess || got.Causes[0].Confidence < 0.7 || got.Advice[0].ID != FixStopOtherProcess || strings.Contains(got.Causes[0].Evidence[0], "0 B") {
		t.Errorf("%+v", got.Causes)
	}
}
