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

func checkXID(f *Facts) (list []finding) {
	if f.gpu == nil {
		return nil
	}
	for _, one := range f.gpu.xids.recent {
		if f.now-one.seen > xidSeconds {
			continue
		}
		level, known := xidLevels[one.Code]
		if !known {
			level = sampler.LevelWarning
		}
		list = append(list, finding{id: int(min(one.Code, 1<<30)), level: level, render: func(f *Facts) message { return renderXID(f, one.XID, known) }})
	}
	return list
}

func renderXID(f *Facts, one sampler.XID, known bool) message {
	words, row, code := f.words, "other", one.Code
	if known {
		row = strconv.FormatUint(code, 10)
	}
	meaning := words.Say("alert.xid." + row)
	m := message{
		text:     words.Say("alert.xid", "gpu", f.gpu.last.Label(), "code", code, "meaning", meaning),
		evidence: []string{words.Say("alert.xid.driver", "code", code, "meaning", meaning), words.Say("alert.xid.then." + row)},
		numbers:  map[string]float64{"xid": float64(code)},
	}
	if t, ok := one.Time.Value(); ok {
		m.evidence = append(m.evidence, words.Say("alert.xid.at", "time", t.Format(time.TimeOnly)))
	}
	return m
}
