package theme

var colorblind = Theme{
	Name:  "color-blind",
	Title: "blue to orange, safe for the common kinds of color blindness (Okabe and Ito)",
	Roles: [roles]Style{
		Text:     {},
		Dim:      {Color: "#8c919c"},
		Faint:    {Color: "#565c68"},
		Accent:   {Color: "#56b4e9"},
		Strong:   {Bold: true},
		Ok:       {Color: "#0072b2"},
		Notice:   {Color: "#56b4e9"},
		Warning:  {Color: "#e69f00"},
		Critical: {Color: "#d55e00", Bold: true},
		Reserved: {Color: "#666c78"},
		Unknown:  {Color: "#cc79a7"},
		Peak:     {Color: "#f0e442"},
		Need:     {Color: "#e69f00", Bold: true},
		Util:     {Color: "#009e73"},
		Plot:     {Color: "#56b4e9"},
		UtilPlot: {Color: "#2c6b58"},
		Demo:     {Color: "#f0e442", Bold: true},
	},
	Backs: [backs]Style{
		Plain:    {},
		Selected: {Color: "#33405a"},
		Bar:      {},
	},
}
