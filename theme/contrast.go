package theme

var contrast = Theme{
	Name:  "high-contrast",
	Title: "pure colors on black or white, bold where it matters",
	Roles: [roles]Style{
		Text:     {Bold: true},
		Dim:      {},
		Faint:    {},
		Accent:   {Color: "#00afff", Bold: true},
		Strong:   {Bold: true},
		Ok:       {Color: "#00d700", Bold: true},
		Notice:   {Color: "#ffff00", Bold: true},
		Warning:  {Color: "#ff8700", Bold: true},
		Critical: {Color: "#ff0000", Bold: true, Reverse: true},
		Reserved: {},
		Unknown:  {Color: "#d787ff", Bold: true},
		Peak:     {Color: "#ff5fff", Bold: true},
		Need:     {Color: "#ffd700", Bold: true},
		Util:     {Color: "#00d7ff", Bold: true},
		Plot:     {Color: "#00afff"},
		UtilPlot: {Color: "#5f8787"},
		Demo:     {Bold: true, Reverse: true},
	},
	Backs: [backs]Style{
		Plain:    {},
		Selected: {Reverse: true},
		Bar:      {},
	},
}
