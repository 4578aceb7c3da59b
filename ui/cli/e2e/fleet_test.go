package e2e_test

import (
	"strings"
	"testing"
)

// TestFleet opens a machine of the demo's fleet in a real terminal, and goes back.
func TestFleet(t *testing.T) {
	t.Parallel()
	term := open(t, setup{args: []string{"--demo=fleet"}, size: [2]int{120, 40}})
	see(t, term, "DEMO fleet", "12 hosts", "44 GPUs", "MIN FREE", "a100-03", "lost since", "NODE", "q quit")
	press(t, term, "/desk\r")
	see(t, term, "desk-dan", "/desk")
	press(t, term, "\r")
	see(t, term, "Esc all hosts", "desk-dan", "RTX 4090", "GPU 1")
	press(t, term, "K")
	see(t, term, "these processes run on another machine")
	press(t, term, "\x1b")
	see(t, term, "12 hosts", "/desk")
	press(t, term, "\x1b")
	see(t, term, "h100-01", "a100-03")
	press(t, term, "t")
	seeThat(t, term, "the users of all machines", func(s string) bool {
		return strings.Contains(s, "WHERE") && strings.Contains(s, "svc-llm")
	})
	press(t, term, "q")
	ends(t, term, 0)
}

// TestFleetOfExporters watches two exporters, and one that is not there.
func TestFleetOfExporters(t *testing.T) {
	t.Parallel()
	eight, _ := exporting(t, setup{scenario: "h100x8"})
	split, _ := exporting(t, setup{scenario: "mig"})
	term := open(t, setup{args: []string{"--from", eight, "--from", split, "--from", "http://127.0.0.1:1/metrics"}, size: [2]int{120, 40}})
	see(t, term, "3 hosts", "2 ok", "1 lost", "10 GPUs", "connection refused", "62.5/79.6G", "41000")
	press(t, term, "2")
	see(t, term, "Esc all hosts")
	press(t, term, "\x1b")
	see(t, term, "3 hosts")
	press(t, term, "q")
	ends(t, term, 0)
}

// TestThousandGPUs: their screen is there within seconds, and answers.
func TestThousandGPUs(t *testing.T) {
	term := open(t, setup{args: []string{"--demo=fleet-of-1000"}, size: [2]int{200, 60}})
	see(t, term, "125 hosts", "992 GPUs", "1 lost", "node")
	press(t, term, "\x1b[B\r")
	see(t, term, "Esc all hosts")
	press(t, term, "q")
	ends(t, term, 0)
}
