package cli

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
)

// A command takes what it says it takes; the rest it refuses in one line that names the flag
// and the commands that take it.
func TestOptionsRefused(t *testing.T) {
	root := silent().root()
	refused := 0
	for _, c := range root.Commands() {
		for _, o := range new(options).table() {
			if c.Flags().Lookup(o.flag) != nil {
				continue
			}
			refused++
			out, errs, code := command(t, c.Name(), "--"+o.flag)
			if code != exitUsage || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, c.Name()+" does not take --"+o.flag) ||
				!strings.Contains(errs, strings.Join(takers(root, o.flag), ", ")) {
				t.Errorf("%s --%s: exit %d, %q, %q", c.Name(), o.flag, code, out, errs)
			}
		}
	}
	if refused < 50 {
		t.Errorf("only %d options were refused", refused)
	}
	if got := takers(root, "webhook"); !slices.Equal(got, []string{"the monitor", "doctor", "export", "record", "run", "stream"}) {
		t.Errorf("%q take --webhook", got)
	}
}

// The environment is read for the options that a command takes, and a flag wins.
func TestOptionsEnvironment(t *testing.T) {
	for _, tt := range []struct {
		args string
		env  string // one variable
		code int
		says string
	}{
		{"once --demo", "NVPEAK_INTERVAL=soon", exitUsage, "NVPEAK_INTERVAL"},
		{"once --demo --interval 1s", "NVPEAK_INTERVAL=soon", exitFine, ""},
		{"once --demo", "NVPEAK_WEBHOOK=nonsense", exitFine, ""},
		{"record --demo -o -", "NVPEAK_WEBHOOK=nonsense", exitUsage, "NVPEAK_WEBHOOK: it takes an http or https URL"},
		{"stream --demo --webhook nonsense", "", exitUsage, "--webhook: it takes an http or https URL"},
		{"stream --demo --notify bell", "", exitUsage, "--notify needs a terminal"},
		{"export --demo --listen :99999", "", exitUsage, "--listen :99999: an address and a port"},
		{"record --demo -o - --for 1s", "NVPEAK_NOTIFY=bell", exitFine, "nvpeak: NVPEAK_NOTIFY: --notify needs a terminal"},
		{"record --demo -o - --for 1s", "NVPEAK_WEBHOOK=http://127.0.0.1:1/", exitFine, "nvpeak: NVPEAK_WEBHOOK: the webhook is on a loopback"},
		{"version", "NVPEAK_THEME=pink", exitFine, ""},
		{"once --demo", "NVPEAK_GPU=7", exitUsage, "no such GPU"},
		{"once --demo -i 0", "NVPEAK_GPU=7", exitFine, ""},
	} {
		name, value, _ := strings.Cut(tt.env, "=")
		var errs bytes.Buffer
		a := silent()
		a.err, a.env = &errs, func(s string) string {
			if s == name {
				return value
			}
			return ""
		}
		if code := a.run(context.Background(), strings.Fields(tt.args)); code != tt.code || !strings.Contains(errs.String(), tt.says) {
			t.Errorf("%s %s: exit %d, %q", tt.env, tt.args, code, errs.String())
		}
	}
}
