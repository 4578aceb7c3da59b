package cli

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"nvpeak/advice/explain"
	"nvpeak/sampler"
	"nvpeak/sampler/tape"
	"nvpeak/sampler/torchsnap"
)

// snapshotRoom is the memory from which on garbage is collected at once while a memory snapshot is read.
const snapshotRoom = 400 << 20

// kindOfInput looks at the beginning of a file, unpacked, and leaves it there.
func kindOfInput(in *bufio.Reader) torchsnap.Kind {
	packed, _ := in.Peek(in.Size())
	head, _ := io.ReadAll(io.LimitReader(tape.Text(bytes.NewReader(packed)), torchsnap.Headroom))
	return torchsnap.Sniff(head)
}

// scanSnapshot reads a memory snapshot of PyTorch.
func (a *app) scanSnapshot(l logFailures, in io.Reader, kind torchsnap.Kind) (logFailures, error) {
	words, name := a.words(), sampler.Clean(l.name)
	switch kind {
	case torchsnap.Checkpoint:
		return l, usagef("%s", words.Say("torch.checkpoint", "file", name))
	case torchsnap.Other:
		return l, usagef("%s", words.Say("torch.not_pickle", "file", name))
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(snapshotRoom)
	}
	s, err := torchsnap.Read(tape.Text(in))
	switch {
	case errors.Is(err, torchsnap.ErrRefused):
		return l, usagef("%s", words.Say("torch.refused", "file", name, "why", err))
	case errors.Is(err, torchsnap.ErrNoSnapshot):
		text := words.Say("torch.none", "file", name)
		if s.Cut != "" {
			text += words.Say("list.semicolon") + s.Cut
		}
		return l, usagef("%s", text)
	case err != nil:
		return l, err
	}
	s.File = name
	if s.Cut != "" {
		l.note = words.Say("torch.cut", "file", name, "why", s.Cut)
	}
	readSources(&s, time.Time{})
	l.snapshot = &s
	return l, nil
}

// namedPickle: the name promises a pickle.
func namedPickle(name string) bool {
	for _, packing := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, packing)
	}
	return slices.Contains([]string{".pickle", ".pkl"}, filepath.Ext(name))
}

// addSnapshots makes memory snapshots part of an incident: one shows the GPU of a failure in the logs where both
// tell of the same request, else it brings failures of its own.
func addSnapshots(in *explain.Incident, logs []logFailures) {
	logged := len(in.Events)
	for _, l := range logs {
		if l.snapshot == nil {
			continue
		}
		in.Snapshots = append(in.Snapshots, *l.snapshot)
		events, devices := explain.FromSnapshot(*l.snapshot)
		for i, e := range events {
			e.Rank = rankOfLog(l.name)
			at := slices.IndexFunc(in.Events[:logged], func(o sampler.OOMEvent) bool { return sameRefusal(o, e) })
			if at < 0 {
				if !e.Requested.Known() && logged > 0 {
					continue // nothing was refused in it, and the logs tell of what was
				}
				at = len(in.Events)
				in.Events = append(in.Events, e)
				if len(logs) > 1 {
					in.Files = append(in.Files, sampler.Clean(l.name))
				}
			} else {
				o := &in.Events[at]
				o.GPUFree, o.Allocated, o.ReservedUnallocated = o.GPUFree.Else(e.GPUFree), o.Allocated.Else(e.Allocated), o.ReservedUnallocated.Else(e.ReservedUnallocated)
			}
			for len(in.Devices) <= at {
				in.Devices = append(in.Devices, nil)
			}
			in.Devices[at] = devices[i]
		}
	}
}

// sameRefusal: a failure in a log is the refusal in a snapshot. Logs print two decimals.
func sameRefusal(logged, e sampler.OOMEvent) bool {
	if logged.Framework != "pytorch" || logged.MemoryKind != sampler.MemoryGPU || logged.GPUIndex.Contradicts(e.GPUIndex) {
		return false
	}
	a, known := logged.Requested.Value()
	b, refused := e.Requested.Value()
	if !known || !refused {
		return false
	}
	return max(a, b)-min(a, b) <= max(a, b)/100
}

// sourceMost is the longest source file that is looked into.
const sourceMost = 4 << 20

// readSources puts the source lines to the places of a snapshot whose files can be read here, and have not been
// changed since a time; zero: whenever.
func readSources(s *sampler.TorchSnapshot, since time.Time) {
	files := map[string][]string{}
	fill := func(site *sampler.TorchSite) {
		lines, read := files[site.File]
		if !read && len(files) < 64 {
			lines = sourceLinesOf(site.File, since)
			files[site.File] = lines
		}
		if site.Line >= 1 && site.Line <= len(lines) {
			site.Code = sampler.ClipAt(strings.TrimSpace(lines[site.Line-1]), sampler.CodeLength)
		}
	}
	for i := range s.Devices {
		d := &s.Devices[i]
		for _, list := range [][]sampler.TorchHolder{d.Holders, d.Pins} {
			for k := range list {
				fill(&list[k].TorchSite)
			}
		}
		if d.Trace == nil {
			continue
		}
		for k := range d.Trace.Lines {
			fill(&d.Trace.Lines[k].TorchSite)
		}
		for k := range d.Trace.Last {
			fill(&d.Trace.Last[k].Site)
		}
		if d.Trace.OOM != nil {
			fill(&d.Trace.OOM.Site)
		}
	}
}

// sourceLinesOf are those of a file that has not been changed since then.
func sourceLinesOf(name string, since time.Time) []string {
	if info, err := os.Stat(name); err != nil || !since.IsZero() && info.ModTime().After(since) {
		return nil
	}
	return sourceLines(name)
}

// sourceLines are the lines of a source file; none where it is no ordinary file of Python.
func sourceLines(name string) []string {
	if filepath.Ext(name) != ".py" {
		return nil
	}
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > sourceMost {
		return nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	return strings.Split(string(text), "\n")
}
