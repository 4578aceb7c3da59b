package theme

import (
	"slices"
	"strconv"
)

// roleNames are the roles as a file of colors names them.
var roleNames = [roles]string{"text", "dim", "faint", "accent", "strong", "ok", "notice", "warning", "critical", "reserved", "unknown",
	"peak", "need", "util", "plot", "util-plot", "demo", "area1", "area2", "area3", "area4", "area5", "area6"}

var backNames = [backs]string{"plain", "selected", "bar"}

// basicNames are the colors of a terminal of 16, from Black on.
var basicNames = []string{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white", "bright-black", "bright-red",
	"bright-green", "bright-yellow", "bright-blue", "bright-magenta", "bright-cyan", "bright-white", "own", "faded", "swapped"}

// RoleNames are the roles as a file of colors names them, in their order.
func RoleNames() []string { return roleNames[:] }

// BackNames are the backgrounds as such a file names them, in their order.
func BackNames() []string { return backNames[:] }

// BasicNames are the colors of a terminal of 16, as such a file names them.
func BasicNames() []string { return basicNames }

// BasicNamed is a color of a terminal of 16 by its name; 0: there is none of it.
func BasicNamed(name string) Basic { return Basic(slices.Index(basicNames, name) + 1) } //nolint:gosec // 19 names

// Add makes t one of the themes. One of a name that there is replaces none: false.
func Add(t *Theme) bool {
	if _, ok := Named(t.Name); ok {
		return false
	}
	themes = append(themes, t)
	return true
}

// IsColor says whether a text is a color, "#rrggbb".
func IsColor(text string) bool {
	if len(text) != 7 || text[0] != '#' {
		return false
	}
	_, err := strconv.ParseUint(text[1:], 16, 32)
	return err == nil
}

// NearestANSI256 is the color of a terminal of 256 that is nearest to "#rrggbb".
func NearestANSI256(color string) uint8 {
	want, best, least := channels(color), 16, 1<<30
	for n := 16; n < 256; n++ {
		far := 0
		for i, c := range channels(cube(n)) {
			far += (c - want[i]) * (c - want[i])
		}
		if far < least {
			best, least = n, far
		}
	}
	return uint8(best) //nolint:gosec // below 256
}

// channels are red, green and blue of "#rrggbb".
func channels(color string) [3]int {
	v, _ := strconv.ParseUint(color[1:], 16, 32) //nolint:errcheck // IsColor looked at it
	return [3]int{int(v >> 16 & 255), int(v >> 8 & 255), int(v & 255)}
}
