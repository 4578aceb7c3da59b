package explain

import (
	"os"
	"slices"
	"strings"
	"testing"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
	"nvpeak/sampler/oomlog"
	"nvpeak/sampler/post"
)

// thread is a message that somebody published, with what the thread found.
type thread struct {
	name, command, log string
	causes, first      []string
	shows              string // in what the first advice says is to be done
	title              string // in its title
	says, hides        string // in what is said of the failure, and in nothing that is said
}

var readThreads = map[string][]sampler.OOMEvent{}

// events are the failures of its message. Reading one takes longer than judging it, and several tests do.
func (one *thread) events(t *testing.T) []sampler.OOMEvent {
	t.Helper()
	if events, ok := readThreads[one.log]; ok {
		return events
	}
	events, err := oomlog.Scan(strings.NewReader(one.log))
	if err != nil {
		t.Fatalf("%s: %v", one.name, err)
	}
	events = post.Read(one.log, events, oomlog.Scan)
	readThreads[one.log] = events
	return events
}

func threads(t *testing.T, file string) (list []thread) {
	t.Helper()
	data, err := os.ReadFile("../../testdata/threads/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(data), "\n== ")[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		one := thread{name: name}
		for {
			line, after, _ := strings.Cut(rest, "\n")
			key, value, is := strings.Cut(line, ": ")
			switch {
			case is && key == "source":
			case is && key == "command":
				one.command = value
			case is && key == "cause":
				one.causes = strings.Fields(value)
			case is && key == "first":
				one.first = strings.Fields(value)
			case is && key == "shows":
				one.shows = value
			case is && key == "title":
				one.title = value
			case is && key == "says":
				one.says = value
			case is && key == "hides":
				one.hides = value
			default:
				is = false
			}
			if !is {
				break
			}
			rest = after
		}
		one.log = rest
		list = append(list, one)
	}
	return list
}

// impossibleFor are the fixes that a kind of program cannot have.
var impossibleFor = map[kinds][]string{
	server:     {FixHalveBatchAccumulate, FixGradientCheckpointing, FixAMPBF16, FixSmallerOptimizer, FixNoGradInference, FixLeak},
	imageTool:  {FixHalveBatchAccumulate, FixGradientCheckpointing, FixAMPBF16, FixSmallerOptimizer, FixShardOrOffload, FixNoGradInference, FixLeak},
	inference:  {FixGradientCheckpointing, FixAMPBF16, FixSmallerOptimizer, FixShardOrOffload, FixShrinkValidationBatch},
	evaluation: {FixGradientCheckpointing, FixAMPBF16, FixSmallerOptimizer, FixShardOrOffload},
}

// Public threads: the causes and the first advice that their resolution confirms, and nothing that
// is impossible where it happened.
func TestThreads(t *testing.T) {
	list := threads(t, "threads.txt")
	causes, firsts := 0, 0
	for _, one := range list {
		events := one.events(t)
		if len(events) == 0 {
			t.Errorf("%s: no event", one.name)
			continue
		}
		in := Incident{Events: events, Command: one.command}
		got := Explain(in)
		f := newFailure(in, events[max(0, got.Verdict.Event)], lang.English())
		first := ""
		if len(got.Advice) > 0 {
			first = got.Advice[0].ID
		}
		cause := TopCause(got.Causes)
		if slices.Contains(one.causes, cause) || cause == CauseUnknown {
			causes++
		} else {
			t.Logf("%s: cause %s, not %v", one.name, cause, one.causes)
		}
		if slices.Contains(one.first, first) {
			firsts++
		} else {
			t.Logf("%s: first %s, not %v (kind %d %s, causes %v)", one.name, first, one.first, f.program.kind, f.program.name, causeIDs(got.Causes))
		}
		for _, a := range got.Advice {
			if slices.Contains(impossibleFor[f.program.kind], a.ID) {
				t.Errorf("%s: %s cannot be done there", one.name, a.ID)
			}
		}
	}
	t.Logf("%d threads: cause right or unknown %d, first advice right %d", len(list), causes, firsts)
	if causes*100 < 92*len(list) || firsts*100 < 80*len(list) {
		t.Errorf("%d threads: cause right or unknown %d (92 %%), first advice right %d (80 %%)", len(list), causes, firsts)
	}
}

// One text for each kind of program and of wording that was once misjudged.
func TestKinds(t *testing.T) {
	for _, one := range threads(t, "kinds.txt") {
		events := one.events(t)
		if len(events) == 0 {
			t.Errorf("%s: no event", one.name)
			continue
		}
		got := Explain(Incident{Events: events, Command: one.command})
		if len(got.Advice) == 0 || !slices.Contains(one.first, got.Advice[0].ID) {
			t.Errorf("%s: advice %v, first not %v", one.name, got.Advice, one.first)
		} else if do := strings.Join(got.Advice[0].Do, "\n"); !strings.Contains(do, one.shows) {
			t.Errorf("%s: nothing of %q in %q", one.name, one.shows, do)
		} else if title := got.Advice[0].Title; !strings.Contains(title, one.title) {
			t.Errorf("%s: nothing of %q in the title %q", one.name, one.title, title)
		}
		if detail := got.Verdict.Detail; !strings.Contains(detail, one.says) {
			t.Errorf("%s: nothing of %q in %q", one.name, one.says, detail)
		}
		if all := said(got); one.hides != "" && strings.Contains(all, one.hides) {
			t.Errorf("%s: %q stands in %q", one.name, one.hides, all)
		}
		if cause := TopCause(got.Causes); !slices.Contains(one.causes, cause) {
			t.Errorf("%s: cause %s, not %v", one.name, cause, one.causes)
		}
		for _, a := range got.Advice {
			if text := a.Title + a.Why + a.Cost; strings.ContainsAny(text, "{}") {
				t.Errorf("%s: a placeholder is left in %q", one.name, text)
			}
		}
	}
}

// said is what is printed without being asked for details: the verdict, and of the advice the titles and what the first one is to do.
func said(got Explanation) string {
	lines := []string{got.Verdict.Headline, got.Verdict.Detail}
	for i, a := range got.Advice {
		lines = append(lines, a.Title)
		if i == 0 {
			lines = append(lines, a.Do...)
		}
	}
	return strings.Join(lines, "\n")
}

// Long samples are known from what a text says of them: that any batch had fitted before is not.
func TestLongSamplesFittedNever(t *testing.T) {
	const log = "I train a tagger on contracts and this always happens:\nToken indices sequence length is longer than the specified maximum sequence length for this model (1630 > 512).\n" +
		"RuntimeError: CUDA out of memory. Tried to allocate 140.00 MiB (GPU 0; 3.81 GiB total capacity; 2.90 GiB already allocated; 60.00 MiB free; 3.00 GiB reserved in total by PyTorch)\n"
	events, err := oomlog.Scan(strings.NewReader(log))
	if events = post.Read(log, events, oomlog.Scan); err != nil || len(events) != 1 {
		t.Fatal(events, err)
	}
	got := Explain(Incident{Events: events})
	if strings.Contains(got.Verdict.Detail, "had fitted before") || TopCause(got.Causes) != CauseDataSpike || !strings.Contains(strings.Join(got.Advice[0].Do, "\n"), "a larger GPU") {
		t.Errorf("%s: %q, %q", TopCause(got.Causes), got.Verdict.Detail, got.Advice[0].Do)
	}
}

func causeIDs(list []sampler.Cause) (ids []string) {
	for _, c := range list {
		ids = append(ids, c.ID)
	}
	return ids
}
