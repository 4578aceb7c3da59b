package theme

var mono = Theme{
	Name:  "mono",
	Title: "no colors: bold, dim and reverse only",
	Roles: [roles]Style{
		Text:     {},
		Dim:      {Dim: true},
		Faint:    {Dim: true},
		Accent:   {Bold: true},
		Strong:   {Bold: true},
		Ok:       {},
		Notice:   {},
		Warning:  {Bold: true},
		Critical: {Bold: true, Reverse: true},
		Reserved: {Dim: true},
		Unknown:  {Dim: true},
		Peak:     {Bold: true},
		Need:     {Bold: true},
		Util:     {},
		Plot:     {Bold: true},
		UtilPlot: {Dim: true},
		Demo:     {Bold: true, Reverse: true},
	},
	Backs: [backs]Style{
		Plain:    {},
		Selected: {Reverse: true},
		Bar:      {},
	},
}
