// Package theme holds colors and glyphs: what a role looks like, never what it says.
// A theme is one file with one Theme literal, and one line in themes.go.
// It knows nothing of GPUs and nothing of the screen.
package theme

// Role is what a piece of text is for. The screen chooses roles, a theme their looks.
type Role uint8

// The roles.
const (
	Text     Role = iota // figures and names
	Dim                  // labels, units, what is less important
	Faint                // frames, empty parts of bars, axes
	Accent               // the one accent: titles, keys, the focused GPU
	Strong               // text that must be read
	Ok                   // memory under the first color level
	Notice               // level 1: from 80 % of GPU memory
	Warning              // level 2: from 90 %
	Critical             // level 3: from 95 %
	Reserved             // driver and firmware
	Unknown              // used by no visible process; N/A
	Peak                 // ▲ and the watermark line, where it is no danger: then it has the color of its level
	Need                 // ┊
	Util                 // utilization
	Plot                 // the line of the plotted figure
	UtilPlot             // the line of utilization behind it
	Demo                 // the DEMO label
	Area1                // the filled plot, by height: at the bottom
	Area2                // half way up to the levels
	Area3                // next to the levels
	Area4                // level 1
	Area5                // level 2
	Area6                // level 3
	roles                // how many
)

// Back is the background of a piece of text.
type Back uint8

// The backgrounds.
const (
	Plain    Back = iota
	Selected      // the row under the cursor
	Bar           // header and footer
	backs
)

// Area is the role of what is drawn at a share of the height of a plot in percent, with the levels
// of Level.
func Area(percent float64, levels [3]float64) Role {
	switch {
	case percent >= levels[2]:
		return Area6
	case percent >= levels[1]:
		return Area5
	case percent >= levels[0]:
		return Area4
	case percent >= 50:
		return Area3
	case percent >= 25:
		return Area2
	}
	return Area1
}

// Level is the role of a share of memory in percent, by the three levels of the field
// (80, 90 and 95 % for GPU memory; 70, 80 and 90 % for host memory).
func Level(percent float64, levels [3]float64) Role {
	switch {
	case percent >= levels[2]:
		return Critical
	case percent >= levels[1]:
		return Warning
	case percent >= levels[0]:
		return Notice
	}
	return Ok
}
