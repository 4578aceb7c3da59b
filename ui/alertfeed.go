package ui

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"nvpeak/sampler"
)

// alertFeed announces alerts, and hands out the commands that they advise.
type alertFeed struct {
	notify Notify
	open   map[string]bool // IDs of the alerts that were open last; nil before the first
	copied int             // how many commands were copied
}

// announce reports critical alerts that were not open before, and returns what to send to
// the terminal. What is open when the monitor begins (a demo's past) is no news. ahead is how far
// the time of day is ahead of that of the alerts.
func (f *alertFeed) announce(alerts []sampler.Alert, ahead time.Duration) (sequence string) {
	known := f.open
	f.open = make(map[string]bool, len(alerts))
	for _, a := range alerts {
		f.open[a.ID] = true
		if known == nil || known[a.ID] || a.Level != sampler.LevelCritical {
			continue
		}
		a.Time = a.Time.Add(ahead)
		if f.notify.Report != nil {
			f.notify.Report(a)
		}
		sequence += f.notify.sequence(a)
	}
	return sequence
}

// sequence is what the terminal is sent. The text may hold names from outside and a
// semicolon would end it: only plain characters are left.
func (n Notify) sequence(a sampler.Alert) (sequence string) {
	if n.Bell {
		sequence = "\a"
	}
	if n.Desktop {
		text := strings.Map(func(r rune) rune {
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

// nextCommand is the next command that the alerts advise to type, the most urgent first,
// and which of how many it is.
func (f *alertFeed) nextCommand(alerts []sampler.Alert) (text string, number, of int) {
	var list []string
	for _, a := range alerts {
		for _, ad := range a.Advice {
			for _, do := range ad.Do {
				if do = strings.TrimSpace(do); do != "" && !strings.HasPrefix(do, "#") {
					list = append(list, do)
				}
			}
		}
	}
	if len(list) == 0 {
		return "", 0, 0
	}
	f.copied %= len(list)
	text = list[f.copied]
	f.copied++
	return text, f.copied, len(list)
}
