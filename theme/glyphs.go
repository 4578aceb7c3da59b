package theme

// Glyphs are the drawing characters. Every one is one column wide in every terminal.
type Glyphs struct {
	Bar        []rune // parts of a cell, from one step to full
	Thin       []rune // the same for thin bars
	Low        []rune // the same for bars that stand one above another, and must not look like one
	BarEmpty   rune
	BarReserve rune // reserved by the driver
	BarUnknown rune // unattributed
	Peak, Need rune
	NeedOver   rune // the need ends beyond what there is
	Line       rune // frames
	Side       rune
	Corners    []rune // upper left, upper right, lower left, lower right
	Mark       rune   // the watermark line
	Tick       rune   // a moment of a plot
	Cursor     rune
	Focus      rune
	Spark      []rune // lowest to highest
	Level      []rune // a line in the lower part of its row, in the middle, in the upper part
	Alert      rune
	More       rune
	Degree     rune
	Dot        rune // between items
	Ellipsis   rune
	Up, Down   rune
}

// Unicode glyphs, the default.
var Unicode = Glyphs{
	Bar: []rune("▎▌▊█"), Thin: []rune("╸━"), Low: []rune("▆"), BarEmpty: '·', BarReserve: '▒', BarUnknown: '▓',
	Peak: '▲', Need: '┊', NeedOver: '»', Line: '─', Side: '│', Corners: []rune("╭╮╰╯"), Mark: '╌', Tick: '╎', Cursor: '›', Focus: '▸',
	Spark: []rune("▁▂▃▄▅▆▇█"), Level: []rune("_─‾"), Alert: '!', More: '…', Degree: '°', Dot: '·', Ellipsis: '…', Up: '↑', Down: '↓',
}

// ASCII glyphs, for --ascii and terminals without UTF-8.
var ASCII = Glyphs{
	Bar: []rune("#"), Thin: []rune("="), Low: []rune("#"), BarEmpty: '.', BarReserve: ':', BarUnknown: '%',
	Peak: '^', Need: '|', NeedOver: '>', Line: '-', Side: '|', Corners: []rune("++++"), Tick: ':', Mark: '.', Cursor: '>', Focus: '>',
	Spark: []rune("_.-=*#"), Level: []rune(`_-"`), Alert: '!', More: '~', Degree: 'C', Dot: '-', Ellipsis: '~', Up: '^', Down: 'v',
}
