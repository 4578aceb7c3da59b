package theme

import "fmt"

// areaTop is the share of a plot, in percent, at which the levels begin.
const areaTop = 80

// Shade is the style of a role at a height of a plot in percent. In true color those under the levels go over into
// each other, for bands look like kinds of memory; a terminal of 256 has no colors between them.
func (t *Theme) Shade(r Role, percent uint8) Style {
	s := t.Roles[r]
	if r < Area1 || r > Area3 || percent == 0 || s.Color == "" {
		return s
	}
	at := 2 * min(float64(percent), areaTop) / areaTop
	from, to := Area1, Area2
	if at > 1 {
		from, to, at = Area2, Area3, at-1
	}
	s.Color = mixed(t.Roles[from].Color, t.Roles[to].Color, at)
	return s
}

// mixed is the color at a part of the way from one to another.
func mixed(a, b string, part float64) string {
	var x, y [3]uint8
	fmt.Sscanf(a, "#%02x%02x%02x", &x[0], &x[1], &x[2]) //nolint:errcheck // TestThemes looks at their form
	fmt.Sscanf(b, "#%02x%02x%02x", &y[0], &y[1], &y[2]) //nolint:errcheck // as above
	for i := range x {
		x[i] = uint8(float64(x[i])*(1-part) + float64(y[i])*part + 0.5)
	}
	return fmt.Sprintf("#%02x%02x%02x", x[0], x[1], x[2])
}
