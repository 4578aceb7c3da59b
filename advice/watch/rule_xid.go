package watch

import (
	"fmt"
	"time"

	"nvpeak/sampler"
)

var ruleXID = Rule{
	Code:   "xid",
	Level:  sampler.LevelCritical,
	Reason: "The driver reported an Xid error: https://docs.nvidia.com/deploy/xid-errors/index.html",
	// An Xid is an event, not a state: it shows at once and for ten minutes.
	HoldFor:    0,
	ClearAfter: time.Second,
	check:      checkXID,
}

const xidSeconds = 600

// xidMeaning is what an Xid is about and how bad it is, after the catalog at
// https://docs.nvidia.com/deploy/xid-errors/index.html.
type xidMeaning struct {
	level, words, then string
}

var xidMeanings = map[uint64]xidMeaning{
	13:  {sampler.LevelWarning, "graphics engine exception", "most often a fault of the program: run it under compute-sanitizer"},
	31:  {sampler.LevelWarning, "MMU fault", "most often an illegal address in the program: run it under compute-sanitizer"},
	43:  {sampler.LevelWarning, "the program's channel was stopped", "a fault of the program; the GPU is healthy"},
	45:  {sampler.LevelNotice, "preemptive cleanup of a program", "it follows the end or kill of a program"},
	48:  {sampler.LevelCritical, "double-bit ECC error", "reset the GPU or reboot; if it comes again have the card replaced"},
	61:  {sampler.LevelCritical, "internal micro-controller breakpoint", "reset the GPU"},
	62:  {sampler.LevelCritical, "internal micro-controller halt", "reset the GPU"},
	63:  {sampler.LevelWarning, "memory row was remapped or page retired", "reset the GPU when its jobs are done"},
	64:  {sampler.LevelCritical, "row remapping or page retirement failed", "reset the GPU; if it comes again have the card replaced"},
	74:  {sampler.LevelCritical, "NVLink error", "look at nvidia-smi nvlink -e; reset the GPUs"},
	79:  {sampler.LevelCritical, "the GPU has fallen off the bus", "reboot; look at power, cooling and the slot"},
	92:  {sampler.LevelWarning, "high rate of single-bit ECC errors", "watch the counters of nvidia-smi -q -d ECC"},
	94:  {sampler.LevelWarning, "contained ECC error", "the programs on it died; others go on; reset it when idle"},
	95:  {sampler.LevelCritical, "uncontained ECC error", "reset the GPU before using it again"},
	119: {sampler.LevelCritical, "GSP firmware timed out", "reset the GPU or reboot"},
	120: {sampler.LevelCritical, "GSP firmware error", "reset the GPU or reboot"},
}

func checkXID(f *Facts) []finding {
	c := f.card
	if c == nil || !c.xid.fresh || f.now-c.xid.seen > xidSeconds {
		return nil
	}
	code, index := c.xid.code, c.gpu.Index
	m, known := xidMeanings[code]
	if !known {
		m = xidMeaning{sampler.LevelWarning, "see NVIDIA's catalog", "look it up at https://docs.nvidia.com/deploy/xid-errors/index.html"}
	}
	return []finding{{id: int(min(code, 1<<30)), level: m.level, say: func() saying {
		s := saying{
			text:     fmt.Sprintf("GPU %d: Xid %d: %s", index, code, m.words),
			evidence: []string{fmt.Sprintf("the driver reported Xid %d: %s", code, m.words), m.then},
			numbers:  map[string]float64{"xid": float64(code)},
		}
		if t, ok := c.xid.time.Value(); ok {
			s.evidence = append(s.evidence, "at "+t.Format(time.TimeOnly))
		}
		return s
	}}}
}
