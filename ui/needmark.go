package ui

import (
	"nvpeak/sampler"
	"nvpeak/theme"
)

// needMark draws where the need would end, in a bar whose last column that can be used is given. It returns that
// one where the need does not fit, else -1.
func (v *view) needMark(c *canvas, x, y int, m *sampler.Memory, column func(sampler.Bytes) float64, last int) (over int) {
	end, known := v.needEnd(m)
	switch {
	case !known:
	case end > m.Usable():
		c.set(x+last, y, v.glyphs.NeedOver, theme.Critical)
		return last
	default:
		c.set(x+min(int(column(end)), last), y, v.glyphs.Need, theme.Need)
	}
	return -1
}

// needEnd is where the need would end: on top of the most that was in use of late, less what its process can reuse,
// as the advice reckons that it is short; where that is not known, on top of what is in use.
func (v *view) needEnd(m *sampler.Memory) (end sampler.Bytes, known bool) {
	for i := range v.fits {
		f := &v.fits[i]
		need, asked := f.Need.Value()
		worst, told := f.WorstFree.Value()
		if &f.gpu.Memory == m && asked && told {
			return m.Usable().Less(worst).Less(f.Reusable.Or(0)) + need.Bytes, true
		}
	}
	return min(m.Used.Or(0), m.Total.Or(0)) + v.need, v.need > 0
}
