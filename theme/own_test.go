package theme

import (
	"strings"
	"testing"
)

// TestRoleNames: every role has its name in files, that of its constant.
func TestRoleNames(t *testing.T) {
	for i, name := range declared(t, "Text", "roles") {
		if got := strings.ReplaceAll(roleNames[i], "-", ""); got != strings.ToLower(name) {
			t.Errorf("%s is called %q", name, roleNames[i])
		}
	}
	for i, name := range declared(t, "Plain", "backs") {
		if backNames[i] != strings.ToLower(name) {
			t.Errorf("%s is called %q", name, backNames[i])
		}
	}
	if len(basicNames) != int(Swapped) || BasicNamed("swapped") != Swapped || BasicNamed("black") != Black || BasicNamed("pink") != 0 {
		t.Errorf("%q", basicNames)
	}
}

func TestAdd(t *testing.T) {
	before := themes
	defer func() { themes = before }()
	own := &Theme{Name: "mine"}
	if !Add(own) || Add(&Theme{Name: "Dark"}) || Add(&Theme{Name: "mine"}) {
		t.Error("a name that there is was taken, or a new one was not")
	}
	if got, ok := Named("mine"); !ok || got != own || After(&mono) != own || After(own) != &dark {
		t.Error("it is not among the themes")
	}
}

func TestNearestANSI256(t *testing.T) {
	for color, want := range map[string]uint8{"#000000": 16, "#ffffff": 231, "#ff0000": 196, "#87afff": 111, "#808080": 244} {
		if got := NearestANSI256(color); got != want {
			t.Errorf("%s: %d, want %d", color, got, want)
		}
	}
	for text, want := range map[string]bool{"#12abEF": true, "#12345": false, "123456": false, "#12345g": false, "": false} {
		if IsColor(text) != want {
			t.Errorf("%q", text)
		}
	}
}
