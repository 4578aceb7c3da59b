package explain

// fixRow is one thing that can be changed. Texts are in the catalogue under "fix.<id>.title",
// ".why" and ".cost", each with an optional variant: "fix.<id>.title.<variant>".
type fixRow struct {
	id      string
	source  string
	kinds   kinds               // of programs in which it is possible
	work    bool                // of programs that have less than a model has
	remote  bool                // where the failure is that of a service elsewhere
	cost    float64             // what it costs the user, in chances of survival that are worth it
	lives   map[string]float64  // how likely the run survives with it, by cause (docs/measurements.md); not named: never
	when    func(*failure) bool // it can help here and is not in force already
	variant func(*failure) string
	saves   func(*failure) (span, bool) // bytes gained at the moment of failure; false: not known
	reach   func(*failure) float64      // chance that it suffices, where saves cannot tell
	do      func(*failure) []string     // what to type
	pairs   func(*failure) []any        // further placeholders of its texts
}
