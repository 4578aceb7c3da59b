package fleet

import (
	"bytes"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/tape"
)

// smi reads what the script prints of nvidia-smi, sweep by sweep.
type smi struct {
	part    string
	written time.Time
	gpus    [][]byte
	apps    [][]byte
	who     [][]byte
}

// mostLines bounds the lines of a part.
const mostLines = 4096

// line takes a line. With the last one of a sweep there is a snapshot, and the time there when the sweep began; zero: it is not told.
func (s *smi) line(line []byte) (*sampler.Snapshot, time.Time) {
	switch text := string(bytes.TrimSpace(line)); {
	case strings.HasPrefix(text, lineSweep+" "):
		*s = smi{part: lineSweep, written: unixTime(strings.TrimPrefix(text, lineSweep+" "))}
	case text == lineApps || text == lineWho:
		s.part = text
	case text == lineEnd:
		done := *s
		*s = smi{}
		return done.snapshot(), done.written
	case s.part == lineSweep && len(s.gpus) < mostLines:
		s.gpus = append(s.gpus, bytes.Clone(line))
	case s.part == lineApps && len(s.apps) < mostLines:
		s.apps = append(s.apps, bytes.Clone(line))
	case s.part == lineWho && len(s.who) < mostLines:
		s.who = append(s.who, bytes.Clone(line))
	}
	return nil, time.Time{}
}

// says is what nvidia-smi has printed last, instead of figures.
func (s *smi) says() string {
	if s.part != lineSweep || len(s.gpus) == 0 {
		return ""
	}
	return lastLine(string(s.gpus[len(s.gpus)-1]))
}

// unixTime reads seconds, with a fraction where date knows one.
func unixTime(text string) time.Time {
	whole, rest, _ := strings.Cut(text, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || seconds < 0 || seconds > 1<<36 {
		return time.Time{}
	}
	nano := int64(500 * time.Millisecond) // somewhere in that second
	if n, err := strconv.ParseInt(rest, 10, 64); err == nil && len(rest) == 9 {
		nano = n
	}
	return time.Unix(seconds, nano).UTC()
}

func (s *smi) snapshot() *sampler.Snapshot {
	snap := tape.DecodeQuery(s.gpus)
	if snap == nil {
		return nil
	}
	owners := map[int][2]string{}
	for _, line := range s.who {
		pid, user, args, ok := owner(string(line))
		if ok {
			owners[pid] = [2]string{user, args}
		}
	}
	for _, line := range s.apps {
		uuid, p, ok := app(string(line))
		if !ok {
			continue
		}
		i := slices.IndexFunc(snap.GPUs, func(g sampler.GPU) bool { return g.UUID == uuid })
		if i < 0 {
			continue
		}
		if who, ok := owners[p.PID]; ok {
			p.User, p.Command, p.Visible = who[0], who[1], true
		}
		snap.GPUs[i].Processes = append(snap.GPUs[i].Processes, p)
	}
	cleanTexts(snap)
	return snap
}

// app reads "GPU-…, 4242, 9216 MiB, python": the name comes last, for it may have commas.
func app(line string) (uuid string, p sampler.Process, ok bool) {
	parts := strings.SplitN(line, ",", 4)
	if len(parts) < 4 {
		return "", p, false
	}
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	pid, err := strconv.ParseInt(parts[1], 10, 32)
	if err != nil || pid <= 0 {
		return "", p, false
	}
	p = sampler.Process{PID: int(pid), Name: path.Base(parts[3]), Command: parts[3], Type: "compute"}
	if size, err := sampler.ParseBytes(parts[2]); err == nil {
		p.Memory = sampler.Some(size)
	}
	return parts[0], p, true
}

// owner reads a line of ps: pid, user and arguments.
func owner(line string) (pid int, user, args string, ok bool) {
	first, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	user, args, _ = strings.Cut(strings.TrimSpace(rest), " ")
	n, err := strconv.ParseInt(first, 10, 32)
	return int(n), user, strings.TrimSpace(args), err == nil && user != ""
}
