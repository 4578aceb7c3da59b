package ui

import (
	"nvpeak/sampler"
	"nvpeak/theme"
)

// needMark draws where the need would end, in a bar whose last column that can be used is given. It returns that
// one where the need does not fit, or the next spike, else -1.
func (v *view) needMark(c *canvas, x, y int, g *sampler.GPU, column func(sampler.Bytes) float64, last int) (over int) {
	m := &g.Memory
	end, known := v.needEnd(g)
	fits := end <= m.Usable()
	if known && fits {
		c.set(x+min(int(column(end)), last), y, v.glyphs.Need, theme.Need)
	}
	if known && !fits || v.spikeEnd(g) > 0 {
		c.set(x+last, y, v.glyphs.NeedOver, theme.Critical)
		return last
	}
	return -1
}

// needEnd is where the need would end: on top of the most that was in use of late, less what its process can reuse,
// as the advice reckons that it is short; where that is not known, on top of what is in use.
func (v *view) needEnd(g *sampler.GPU) (end sampler.Bytes, known bool) {
	m, need := &g.Memory, v.needOn(g)
	for i := range v.fits {
		f := &v.fits[i]
		of, asked := f.Need.Value()
		worst, told := f.WorstFree.Value()
		if f.gpu == g && asked && told {
			return m.Usable().Less(worst).Less(f.Reusable.Or(0)) + of.Bytes, true
		}
	}
	return min(m.Used.Or(0), m.Total.Or(0)) + need, need > 0
}

// needOn is the need that was typed, as it is drawn on a GPU; 0: there is none, or no program can run there.
func (v *view) needOn(g *sampler.GPU) sampler.Bytes {
	if v.need == 0 || g.Unsplit || v.snap != nil && v.snap.Split(g) {
		return 0
	}
	return v.need
}

// spikeEnd is what the next spike would take a GPU to, where that does not fit, as it is said of it; else 0.
func (v *view) spikeEnd(g *sampler.GPU) sampler.Bytes {
	if v.snap == nil {
		return 0
	}
	s, said := v.outcomes[g]
	if !said {
		s = v.outcomeOfGPU(g, true)
	}
	if s.id != "short" {
		return 0
	}
	return g.Memory.Usable() + s.size
}
