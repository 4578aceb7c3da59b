package notify

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"nvpeak/sampler"
)

// Terminal says how an alert is announced by the terminal.
type Terminal struct {
	Bell    bool
	Desktop bool // OSC 9 and OSC 777, for terminals that pass them on to the desktop
}

// ParseTerminal reads bell and desktop, with a comma between them; nothing is neither.
func ParseTerminal(text string) (t Terminal, err error) {
	for _, s := range strings.Split(text, ",") {
		switch strings.TrimSpace(s) {
		case "bell":
			t.Bell = true
		case "desktop":
			t.Desktop = true
		case "":
		default:
			return Terminal{}, fmt.Errorf("%q is neither bell nor desktop", s)
		}
	}
	return t, nil
}

// String is what ParseTerminal reads.
func (t Terminal) String() string {
	var list []string
	if t.Bell {
		list = append(list, "bell")
	}
	if t.Desktop {
		list = append(list, "desktop")
	}
	return strings.Join(list, ",")
}

// Sequence is what the terminal is sent. The text may hold names from outside and a
// semicolon would end it: only plain characters are left.
func (t Terminal) Sequence(a sampler.Alert) (sequence string) {
	if t.Bell {
		sequence = "\a"
	}
	if t.Desktop {
		text := strings.Map(func(r rune) rune {
			if r == '–' { // of a range
				return '-'
			}
			if r < ' ' || r > '~' || r == ';' {
				return ' '
			}
			return r
		}, a.Text)
		sequence += ansi.Notify("nvpeak: "+text) + fmt.Sprintf(oscNotify, text)
	}
	return sequence
}

// oscNotify is the notification of rxvt-unicode, which ansi does not have.
const oscNotify = "\x1b]777;notify;nvpeak;%s\x1b\\"
