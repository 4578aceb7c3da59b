package theme

import "fmt"

// Style is one look: a color for each kind of terminal, chosen by hand, for what a formula finds
// among 16 or 256 makes red of orange and lilac of slate. Without one it is the terminal's own.
type Style struct {
	Color   string // "#rrggbb", where the terminal has true color
	ANSI256 uint8  // where it has 256: 16 to 255, for those below are the user's; 0 is none
	ANSI    Basic  // where it has 16
	Bold    bool
	Dim     bool
	Under   bool // underlined
	Reverse bool
}

// Basic is a color of a terminal that has 16.
type Basic uint8

// The colors. Dark themes do without Black, Red, Blue and Magenta, light ones without the bright and
// pale, which cannot be read there; and all without BrightBlack, which is the background itself in
// Solarized.
const (
	Black Basic = iota + 1
	Red
	Green
	Yellow
	Blue
	Magenta
	Cyan
	White
	BrightBlack
	BrightRed
	BrightGreen
	BrightYellow
	BrightBlue
	BrightMagenta
	BrightCyan
	BrightWhite
	Own     // the terminal's own
	Faded   // the same, dimmed
	Swapped // of a background: the terminal's two, swapped
)

// InCube says whether the true color is the one that a terminal of 256 shows for the same style: then
// a sequence of half the length says it. What changes often has such a color.
func (s Style) InCube() bool { return s.Color != "" && s.Color == cube(int(s.ANSI256)) }

// cube is a color of a terminal of 256 as "#rrggbb": six steps of red, green and blue, and 24 grays. Those
// below 16 are the user's.
func cube(n int) string {
	switch {
	case n < 16:
		return ""
	case n >= 232:
		gray := 8 + 10*(n-232)
		return fmt.Sprintf("#%02x%02x%02x", gray, gray, gray)
	}
	n -= 16
	steps := [6]int{0, 95, 135, 175, 215, 255}
	return fmt.Sprintf("#%02x%02x%02x", steps[n/36], steps[n/6%6], steps[n%6])
}

// Theme gives every role its look.
type Theme struct {
	Name    string
	Title   string   // one line for the help
	Grounds []string // backgrounds of terminals that it can be read on; none: any
	Roles   [roles]Style
	Backs   [backs]Style // the colors are the background's; with Reverse those of the roles do not count
}

// The backgrounds of most terminals: the plain ones, and the popular ones that leave least contrast.
var (
	onDark  = []string{"#000000", "#1e1e2e"}
	onLight = []string{"#ffffff", "#fdf6e3"}
)
