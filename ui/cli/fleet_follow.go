package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"nvpeak/advice/watch"
	"nvpeak/sampler"
	"nvpeak/sampler/fleet"
	"nvpeak/ui/plain"
)

// follow hands on what comes from the hosts that --from names, until take says that it has enough.
func (a *app) follow(ctx context.Context, take func(fleet.Update) (enough bool, err error)) error {
	stream, end, err := a.fleet(ctx)
	if err != nil {
		return err
	}
	defer end()
	for {
		u, err := stream.Next(ctx)
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			return err
		}
		if enough, err := take(u); enough || err != nil {
			return err
		}
	}
}

// roster is what is known of the hosts.
type roster struct {
	hosts []*fleet.Host
	told  map[string]fleet.Host // as they were said last
}

// reason is why a host gives no figures; empty: it does, or nobody knows.
func (r *roster) reason(name string) string {
	for _, h := range r.hosts {
		if h.Name == name && h.State != fleet.OK {
			return h.Reason
		}
	}
	return ""
}

// take takes the hosts of an update, and returns those whose state is news.
func (r *roster) take(u fleet.Update) (news []*fleet.Host) {
	if u.Hosts == nil {
		return nil
	}
	r.hosts = u.Hosts
	told := map[string]fleet.Host{}
	for _, h := range u.Hosts {
		before, known := r.told[h.Name]
		if !known || before.State != h.State || before.Reason != h.Reason || before.Via != h.Via {
			news = append(news, h)
			before = *h
		}
		told[h.Name] = before
	}
	r.told = told
	return news
}

// begins says whether a snapshot is the first look of an nvpeak that has just begun there: it has read the memory once, or not at all.
func (r *roster) begins(s *sampler.Snapshot) bool {
	for _, h := range r.hosts {
		if h.Name == s.Host && h.Via != "nvpeak" {
			return false
		}
	}
	for i := range s.GPUs {
		if w := s.GPUs[i].Memory.Window; w != nil && w.Readings > 1 {
			return false
		}
	}
	return true
}

// rarely says whether the figures of a host are as rare as scrapes are: one of them is all that is waited for.
func (r *roster) rarely(host string) bool {
	return slices.ContainsFunc(r.hosts, func(h *fleet.Host) bool { return h.Name == host && strings.HasSuffix(h.Via, "prometheus") })
}

// settled says whether every host has given figures, or said why not.
func (r *roster) settled(heard map[string]*sampler.Snapshot) bool {
	for _, h := range r.hosts {
		if h.State == fleet.Connecting || h.State == fleet.OK && heard[h.Name] == nil {
			return false
		}
	}
	return len(r.hosts) > 0
}

// without are the hosts that give no figures, in their order.
func (r *roster) without(heard map[string]*sampler.Snapshot) (list []*fleet.Host) {
	for _, h := range r.hosts {
		if heard[h.Name] == nil {
			list = append(list, h)
		}
	}
	return list
}

// why is what is said of a host without figures, or of what its figures lack.
func (a *app) why(h *fleet.Host) string {
	text := h.Reason
	if text == "" {
		text = "no answer yet"
	}
	return h.Name + ": " + text
}

// hostLine is a line of JSON on how a host stands.
type hostLine struct {
	Type   string `json:"type"` // "host"
	Schema int    `json:"schema"`
	*fleet.Host
}

func writeHost(w io.Writer, h *fleet.Host) error {
	return plain.LineJSON(w, hostLine{"host", sampler.Schema, h})
}

// watches judge each host by itself, and by the same rules whatever gives its figures: by their windows, and not by what an nvpeak there
// has judged with another need, other levels and in another language.
type watches struct {
	app *app
	of  map[string]*watch.Watch
}

func (a *app) newWatches() *watches { return &watches{app: a, of: map[string]*watch.Watch{}} }

// take is the snapshot with the alerts that are open then.
func (w *watches) take(s *sampler.Snapshot) *sampler.Snapshot {
	one := w.of[s.Host]
	if one == nil {
		one = watch.New(watch.Options{Need: w.app.opt.need.Opt, Lang: string(w.app.opt.lang), Levels: w.app.levels()})
		w.of[s.Host] = one
	}
	return withAlerts(s, one)
}

var errNoHost = errors.New("no host gives figures")

// noneOf is the error where no host has given figures: the reason of the only one, or that there are several.
func (a *app) noneOf(r *roster) error {
	if len(r.hosts) == 1 {
		return errors.New(a.why(r.hosts[0]))
	}
	return fmt.Errorf("%w: all %d are named above", errNoHost, len(r.hosts))
}

// ofHosts are the alerts of one host among others: the host stands before each.
func ofHost(host string, alerts []sampler.Alert) []sampler.Alert {
	list := make([]sampler.Alert, len(alerts))
	for i, alert := range alerts {
		alert.ID, alert.Host, alert.Text = host+"/"+alert.ID, host, host+": "+alert.Text
		list[i] = alert
	}
	return list
}
