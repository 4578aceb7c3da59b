package cli

import (
	"strings"
	"testing"
)

// A release tells its version, its commit and the day of it.
func TestVersion(t *testing.T) {
	defer func(v, c, d string) { Version, Commit, Date = v, c, d }(Version, Commit, Date)
	Version, Commit, Date = "1.2.3", "0123456789abcdef0123456789abcdef01234567", "2026-11-23T10:00:00Z"
	out, _, code := command(t, "version")
	if code != exitFine || !strings.HasPrefix(out, "nvpeak 1.2.3 linux/") || !strings.HasSuffix(out, " commit 0123456789ab of 2026-11-23\n") {
		t.Errorf("exit %d, %q", code, out)
	}
	Version, Commit, Date = "", "", ""
	if out, _, _ := command(t, "version"); !strings.HasPrefix(out, "nvpeak dev") {
		t.Errorf("%q", out)
	}
}
