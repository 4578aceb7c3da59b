package explain

// fixRow is one thing that can be changed. Texts are in the catalogue under "fix.<id>.title",
// ".why" and ".cost", each with an optional variant: "fix.<id>.title.<variant>".
type fixRow struct {
	id      string
	source  string
	fits    map[string]float64  // how well it answers a cause, 0..1; a cause not named is not answered
	when    func(*failure) bool // it can help here and is not in force already
	variant func(*failure) string
	saves   func(*failure) (span, bool) // bytes gained at the moment of failure; false: not known
	reach   func(*failure) float64      // chance that it suffices, where saves cannot tell
	do      func(*failure) []string     // what to type
	pairs   func(*failure) []any        // further placeholders of its texts
}
