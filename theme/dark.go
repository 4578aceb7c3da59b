package theme

var dark = Theme{
	Name:  "dark",
	Title: "for dark terminals",
	Roles: [roles]Style{
		Text:     {},
		Dim:      {Color: "#8a93a6"},
		Faint:    {Color: "#4a5162"},
		Accent:   {Color: "#7aa2f7"},
		Strong:   {Bold: true},
		Ok:       {Color: "#73c991"},
		Notice:   {Color: "#c9c46b"},
		Warning:  {Color: "#e5a550"},
		Critical: {Color: "#f7768e", Bold: true},
		Reserved: {Color: "#5b6478"},
		Unknown:  {Color: "#a58fd6"},
		Peak:     {Color: "#ff9e64"},
		Need:     {Color: "#e0af68", Bold: true},
		Util:     {Color: "#4f93b5"},
		Plot:     {Color: "#7aa2f7"},
		UtilPlot: {Color: "#2f5568"},
		Demo:     {Color: "#ff9e64", Bold: true},
	},
	Backs: [backs]Style{
		Plain:    {},
		Selected: {Color: "#2a3147"},
		Bar:      {},
	},
}
