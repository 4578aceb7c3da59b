package watch

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"nvpeak/sampler"
)

// incidentKey tells incidents apart: one is open for each at most.
type incidentKey struct {
	rule    int
	machine bool
	card    cardKey
	pid, id int
}

// compare orders incidents by rule, card and process.
func (k incidentKey) compare(o incidentKey) int {
	return cmp.Or(cmp.Compare(k.rule, o.rule), cmp.Compare(k.card.index, o.card.index),
		cmp.Compare(k.card.uuid, o.card.uuid), cmp.Compare(k.card.mig, o.card.mig),
		cmp.Compare(k.pid, o.pid), cmp.Compare(k.id, o.id))
}

// incident is a finding over time: about to show, open, or over.
type incident struct {
	key         incidentKey
	gpu         sampler.Opt[int]
	gpuKey      sampler.GPUKey
	since, seen float64
	times       int
	ready       bool
	raised      bool
	found       finding
	first, now  sampler.Alert // as raised, and as it is
	said        float64       // when the words of now were made
}

// saySeconds is how often the words of an open alert are made anew; its level and ETA
// change with every snapshot.
const saySeconds = 5

func (in *incident) raise(kind string, now float64, at time.Time) {
	in.raised = true
	in.now = sampler.Alert{ID: in.id(kind, now), T: now, Time: at, GPU: in.gpu, Key: in.gpuKey, Kind: kind}
	if in.found.pid != 0 {
		in.now.PID = sampler.Some(in.found.pid)
	}
	in.speak(now)
	in.first = in.now
}

// id is what the key says, and when the alert was raised: the same finding can come again.
func (in *incident) id(kind string, now float64) string {
	parts := []string{kind}
	if !in.key.machine {
		parts = append(parts, in.gpuKey.String())
	}
	if in.key.pid != 0 {
		parts = append(parts, strconv.Itoa(in.key.pid))
	}
	if in.key.id != 0 {
		parts = append(parts, strconv.Itoa(in.key.id))
	}
	return strings.Join(parts, "/") + "@" + strconv.FormatFloat(now, 'f', -1, 64)
}

// renew brings an open alert up to date; stale: its words are old by now.
func (in *incident) renew(now float64) (stale bool) {
	if in.found.level != in.now.Level {
		in.speak(now)
	}
	in.now.ETA = in.found.eta
	return now-in.said >= saySeconds
}

func (in *incident) speak(now float64) {
	words := in.found.say()
	in.said = now
	in.now.Level, in.now.ETA = in.found.level, in.found.eta
	in.now.Text, in.now.Evidence, in.now.Numbers, in.now.Advice = words.text, words.evidence, words.numbers, words.advice
}

func (in *incident) close(now float64) {
	end := sampler.Some(now)
	in.now.End, in.first.End = end, end
}
