package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"nvpeak/advice/retry"
	"nvpeak/sampler"
	"nvpeak/sampler/oomlog"
)

// resumed are arguments with the words that go on from a checkpoint, where there is one.
func (t *tries) resumed(args []string) []string {
	if t.resume.Empty() {
		return args
	}
	words, glob, ok := t.resume.Fill(func(glob string) string { return newestCheckpoint(glob, t.began, args, t.env) })
	shown := strings.TrimSpace(t.flags.retry.resume)
	switch {
	case !ok && glob == "":
		t.say(t.words().Say("retry.no_latest", "words", shown))
		return args
	case !ok:
		t.say(t.words().Say("retry.no_match", "words", shown, "glob", glob))
		return args
	}
	longer, ok := retry.Append(args, words)
	if !ok {
		t.say(t.words().Say("retry.no_place", "words", shown))
		return args
	}
	t.say(t.words().Say("retry.resumes", "words", asTyped(words)))
	return longer
}

// newestCheckpoint is the newest file or directory of a pattern. Without a pattern it is the newest checkpoint below
// the directory, and those that the command names, that was written since the run began: not one of another experiment.
func newestCheckpoint(glob string, began time.Time, args, env []string) string {
	var n newest
	if glob == "" {
		n.writtenSince(".", began)
		for _, arg := range args {
			arg = arg[strings.LastIndexByte(arg, '=')+1:]
			if info, err := os.Stat(arg); err == nil && info.IsDir() && filepath.Clean(arg) != "." {
				n.writtenSince(filepath.Clean(arg), began)
			}
		}
		return n.path
	}
	if rest, home := strings.CutPrefix(glob, "~/"); home {
		dir, _ := retry.Get(env, "HOME")
		glob = filepath.Join(dir, rest)
	}
	list, _ := filepath.Glob(glob) //nolint:errcheck // it was checked
	for _, path := range list {
		if info, err := os.Stat(path); err == nil {
			n.take(path, info)
		}
	}
	return n.path
}

// newest keeps the newest file, of one time the last by name.
type newest struct {
	path string
	at   time.Time
}

func (n *newest) take(path string, info fs.FileInfo) {
	if at := info.ModTime(); n.path == "" || at.After(n.at) || at.Equal(n.at) && path > n.path {
		n.path, n.at = path, at
	}
}

// What a checkpoint is called where no pattern says it: the best one is not the latest, and in a directory such as
// checkpoint-500 the whole directory is one.
var (
	checkpointDirectory = sampler.Pattern{Source: `(?i)^(?:checkpoint|ckpt)[-_]?\d+$`}
	checkpointFile      = sampler.Pattern{Source: `(?i)^(?:checkpoint|ckpt).*\.\w+$|\.(?:ckpt|pt|pth)$`}
	bestFile            = sampler.Pattern{Source: `(?i)best|\.tmp$|\.part$`}
)

const (
	checkpointDepth = 6      // directories
	checkpointLooks = 50_000 // files that are looked at
)

func (n *newest) writtenSince(root string, began time.Time) {
	looked, depth := 0, strings.Count(root, string(os.PathSeparator))
	filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error { //nolint:errcheck // what cannot be read has none
		looked++
		switch {
		case err != nil:
			return nil
		case looked > checkpointLooks:
			return filepath.SkipAll
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || strings.Count(path, string(os.PathSeparator))-depth >= checkpointDepth):
			return filepath.SkipDir
		}
		fits := checkpointFile.Get().MatchString(d.Name()) && !bestFile.Get().MatchString(d.Name()) && d.Type().IsRegular()
		whole := d.IsDir() && checkpointDirectory.Get().MatchString(d.Name())
		if info, err := d.Info(); err == nil && (fits && info.Size() > 0 || whole) && !info.ModTime().Before(began.Truncate(time.Second)) {
			n.take(path, info)
		}
		if whole {
			return filepath.SkipDir
		}
		return nil
	})
}

var escapes = sampler.Pattern{Source: `\x1b\[[0-9;?]*[A-Za-z]`}

// afterFailure is what follows the last failure of memory in an output. Where there is none the failure was long ago,
// and all of it follows.
func afterFailure(end string) string {
	events, err := oomlog.Scan(strings.NewReader(end))
	if err != nil || len(events) == 0 {
		return escapes.Get().ReplaceAllString(end, "")
	}
	last := 0
	for _, e := range events {
		last = max(last, e.Line)
	}
	lines := strings.SplitAfter(end, "\n")
	return escapes.Get().ReplaceAllString(strings.Join(lines[min(last, len(lines)):], ""), "")
}
