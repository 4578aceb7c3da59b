package ui

import (
	"strings"
	"time"

	"nvpeak/advice/lang"
	"nvpeak/advice/watch"
	"nvpeak/sampler"
	"nvpeak/ui/notify"
)

// alertFeed announces alerts, and hands out the commands that they advise.
type alertFeed struct {
	notify Notify
	copied int // how many commands were copied
}

// heard are the alerts of a machine that are no news.
type heard struct {
	news  notify.News
	begun bool
}

// announce reports the alerts that are news, and returns what to send to the terminal. What is
// open when the monitor begins (a demo's past) is no news. ahead is how far the time of day is
// ahead of that of the alerts; where is the machine that they are of, empty where there is one.
func (f *alertFeed) announce(h *heard, alerts []sampler.Alert, ahead time.Duration, words lang.Catalog, where string) (sequence string) {
	news := h.news.Take(alerts)
	if !h.begun {
		h.begun = true
		return ""
	}
	at := func(a sampler.Alert) sampler.Alert {
		if where != "" {
			a.Text = words.Say("fleet.alert", "host", sampler.Clean(where), "text", a.Text)
		}
		return a
	}
	for _, a := range news {
		a.Time = a.Time.Add(ahead)
		if f.notify.Report != nil {
			f.notify.Report(at(a))
		}
	}
	for _, g := range watch.Groups(news, words) {
		sequence += f.notify.Sequence(at(g.Alert))
	}
	return sequence
}

// nextCommand is the next command that the alerts advise to type, the most urgent first,
// and which of how many it is.
func (f *alertFeed) nextCommand(alerts []watch.Group) (text string, number, of int) {
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
