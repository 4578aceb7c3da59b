package theme

var light = Theme{
	Name:  "light",
	Title: "for light terminals",
	Roles: [roles]Style{
		Text:     {},
		Dim:      {Color: "#5c6470"},
		Faint:    {Color: "#b4bac4"},
		Accent:   {Color: "#1f5fbf"},
		Strong:   {Bold: true},
		Ok:       {Color: "#2e8540"},
		Notice:   {Color: "#857a00"},
		Warning:  {Color: "#b35c00"},
		Critical: {Color: "#c01c3a", Bold: true},
		Reserved: {Color: "#9aa1ad"},
		Unknown:  {Color: "#7048b8"},
		Peak:     {Color: "#c2500a"},
		Need:     {Color: "#8f5a00", Bold: true},
		Util:     {Color: "#1a7596"},
		Plot:     {Color: "#1f5fbf"},
		UtilPlot: {Color: "#a9cfdd"},
		Demo:     {Color: "#c2500a", Bold: true},
	},
	Backs: [backs]Style{
		Plain:    {},
		Selected: {Color: "#dbe6f7"},
		Bar:      {},
	},
}
