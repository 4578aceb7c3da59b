// Package fleet watches other machines through the engines that they have: nvpeak over ssh, exporters over HTTP, a
// Prometheus server. It has no agent and no protocol of its own.
//
// Every machine goes its own way: what makes one late or loses it keeps no other one up.
//
//	Spec ─► shell    ssh ─► lines of nvpeak or nvidia-smi ───┐
//	     ─► scraper  GET ─► page ─► figures of an exporter ──┼─► member ─► Update
//	     ─► server   POST ─► answers ─► figures of targets ──┘   (state, clock, peaks; one for each host)
//
// What comes is cleaned and bounded where it comes in: see clean.go, exposition.go and package tape, whose lines nvpeak prints.
package fleet

import (
	"context"
	"time"

	"nvpeak/sampler"
)

// State is how a host stands.
type State string

// The states of a host.
const (
	Connecting State = "connecting" // nothing has come yet
	OK         State = "ok"
	Late       State = "late" // the next figures are overdue
	Lost       State = "lost" // it has ended or cannot be reached, and is tried again
)

// Host is one machine as it stands now. A published Host is never changed.
type Host struct {
	Name   string                 `json:"host"`             // unique in the fleet; that of its snapshots
	Source string                 `json:"source"`           // what was asked for, without secrets: "ssh://box7"
	Via    string                 `json:"via"`              // what gives the figures: "nvpeak", "nvidia-smi", "dcgm-exporter", …; empty: not known yet
	State  State                  `json:"state"`            //
	Since  time.Time              `json:"since"`            // when that state began, by the clock here
	Reason string                 `json:"reason,omitempty"` // why it is late or lost, or what its figures lack: one line
	Retry  sampler.Opt[time.Time] `json:"retry_time"`       // when a lost one is tried again
	Heard  sampler.Opt[time.Time] `json:"heard_time"`       // when its newest figures came, by the clock here; a Host that is ok is not published anew for each
	Offset sampler.Opt[float64]   `json:"clock_offset_s"`   // its clock ahead of the one here; absent: not known
}

// Update is what has come since the one before.
type Update struct {
	// Snapshots of the hosts, oldest first, each with its Host. Their times are by the clock here: Host.Offset has been
	// taken from them.
	Snapshots []*sampler.Snapshot
	// Hosts are all of them, in the order in which they were asked for; nil: none has changed.
	Hosts []*Host
}

// Stream is where a front end gets the figures of several hosts: a Fleet, or a demo of one.
type Stream interface {
	// Next waits for news and returns all that came since. It returns the context's error when that ends.
	Next(ctx context.Context) (Update, error)
	// Interval is the usual time between two snapshots of a host.
	Interval() time.Duration
}
