package theme

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
