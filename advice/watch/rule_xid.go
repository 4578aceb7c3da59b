package watch

import (
	"strconv"
	"time"

	"nvpeak/sampler"
)

var ruleXID = Rule{
	Code:   sampler.AlertXID,
	Level:  sampler.LevelCritical,
	Reason: "The driver reported an Xid error: https://docs.nvidia.com/deploy/xid-errors/index.html",
	// An Xid is an event, not a state: it shows at once and for ten minutes.
	HoldFor:    0,
	ClearAfter: time.Second,
	check:      checkXID,
}

const xidSeconds = 600

func checkXID(f *Facts) []finding {
	g := f.gpu
	if g == nil || !g.xid.fresh || f.now-g.xid.seen > xidSeconds {
		return nil
	}
	code := g.xid.code
	level, known := xidLevels[code]
	if !known {
		level = sampler.LevelWarning
	}
	return []finding{{id: int(min(code, 1<<30)), level: level, render: func(f *Facts) message { return renderXID(f, code, known) }}}
}

func renderXID(f *Facts, code uint64, known bool) message {
	words, row := f.words, "other"
	if known {
		row = strconv.FormatUint(code, 10)
	}
	meaning := words.Say("alert.xid." + row)
	m := message{
		text:     words.Say("alert.xid", "gpu", f.gpu.last.Index, "code", code, "meaning", meaning),
		evidence: []string{words.Say("alert.xid.driver", "code", code, "meaning", meaning), words.Say("alert.xid.then." + row)},
		numbers:  map[string]float64{"xid": float64(code)},
	}
	if t, ok := f.gpu.xid.time.Value(); ok {
		m.evidence = append(m.evidence, words.Say("alert.xid.at", "time", t.Format(time.TimeOnly)))
	}
	return m
}
