package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Version, Commit and Date are set by release builds; the date is that of the commit.
var (
	Version = ""
	Commit  = ""
	Date    = ""
)

func versionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version, its commit and its date",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(a.out, "nvpeak %s %s/%s %s%s\n", version(), runtime.GOOS, runtime.GOARCH, runtime.Version(), builtFrom())
			return err
		},
	}
}

// version is that of the release, or of the commit it was built from.
func version() string {
	if Version != "" {
		return Version
	}
	if commit, _, _ := vcs(); commit != "" {
		return "dev-" + commit
	}
	if _, ok := debug.ReadBuildInfo(); !ok {
		return "unknown"
	}
	return "dev"
}

// builtFrom is the commit and its date, as far as they are known.
func builtFrom() (text string) {
	commit, date, changed := vcs()
	if commit != "" {
		text = " commit " + commit
	}
	if changed {
		text += " (changed)"
	}
	if date != "" {
		text += " of " + date
	}
	return text
}

// vcs is the commit in twelve digits and its day: of the release, or what Go has noted.
func vcs() (commit, date string, changed bool) {
	commit, date = Commit, Date
	info, ok := debug.ReadBuildInfo()
	if ok && commit == "" {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				commit = s.Value
			case "vcs.time":
				date = s.Value
			case "vcs.modified":
				changed = s.Value == "true"
			}
		}
	}
	return commit[:min(12, len(commit))], date[:min(len("2006-01-02"), len(date))], changed
}
