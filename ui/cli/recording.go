package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/tape"
)

// recording is an opened recording with those GPUs that --gpu asks for.
type recording struct {
	*tape.Parts
	gpus selection
	head *tape.Header // the newest; nil where there is none
}

// input is a recording to be opened: its name, its files, and what was asked for of it.
type input struct {
	tape.Recording
	gpus []string      // selectors
	step time.Duration // between the readings of a log without times; 0: not said
}

// one is the recording in a single file.
func one(path string, gpus []string) input {
	return input{Recording: tape.Recording{Name: path, Files: []string{path}}, gpus: gpus}
}

// inputs are the recordings that these names stand for.
func (a *app) inputs(names []string) (list []input, err error) {
	found, err := tape.Find(names)
	if errors.Is(err, tape.ErrNoRecordings) {
		err = usageError{err}
	}
	for _, r := range found {
		in := input{Recording: r, gpus: a.recorded(), step: a.opt.interval}
		list = append(list, in)
	}
	return list, err
}

// recorded are the selectors for the GPUs of a recording. The settings file names those of this machine.
func (a *app) recorded() []string {
	if a.set != nil && a.set.origins["gpu"].how == fromFile {
		return nil
	}
	return a.opt.gpus
}

// files are those of all recordings.
func files(list []input) (names []string) {
	for _, in := range list {
		names = append(names, in.Files...)
	}
	return names
}

// openRecording opens a recording with the GPUs of its selectors, or all of them. Whether
// they exist is for checkSelection to say.
func openRecording(from input) (*recording, error) {
	for _, path := range from.Files {
		if err := readable(path); err != nil {
			return nil, err
		}
	}
	in, err := tape.OpenParts(from.Files)
	if err != nil {
		return nil, err
	}
	in.Every(from.step)
	return &recording{Parts: in, gpus: selection{selectors: from.gpus, chosen: map[sampler.GPUKey]bool{}}, head: in.Header()}, nil
}

// Next returns the next record, without what is about other GPUs.
func (r *recording) Next() (*tape.Record, error) {
	for {
		record, err := r.Parts.Next()
		if err != nil {
			return nil, err
		}
		if record.Header != nil {
			r.head = record.Header
		}
		if len(r.gpus.selectors) == 0 || r.filter(record) {
			return record, nil
		}
	}
}

// filter takes the other GPUs out of a record. It says whether anything is left.
func (r *recording) filter(record *tape.Record) bool {
	switch {
	case record.Snapshot != nil:
		s := *record.Snapshot // shared
		s.GPUs = slices.DeleteFunc(slices.Clone(s.GPUs), func(g sampler.GPU) bool {
			return !r.gpus.has(&sampler.Device{Index: g.Index, UUID: g.UUID, PCI: g.PCI, Name: g.Name, MIG: g.MIG})
		})
		record.Snapshot = &s
	case record.Event != nil && record.Event.Kind != tape.KindOOM: // a failure is one of the job
		place, known := record.Event.GPU.Value()
		return !known || r.hasPlace(place)
	case record.Readings != nil:
		record.Readings = slices.DeleteFunc(record.Readings, func(x tape.Reading) bool { return !r.hasPlace(x.Device) })
	}
	return true
}

// gpuAt is the GPU at a place of the header; nil where the header has none.
func (r *recording) gpuAt(place int) *sampler.Device {
	if r.head == nil || place < 0 || place >= len(r.head.GPUs) {
		return nil
	}
	d := &r.head.GPUs[place]
	return &sampler.Device{Index: d.Index, UUID: d.UUID, PCI: d.PCI, Name: d.Name, MIG: d.MIG}
}

func (r *recording) hasPlace(place int) bool {
	d := r.gpuAt(place)
	return d == nil || r.gpus.has(d)
}

// selection is what selectors choose among GPUs that become known one by one.
type selection struct {
	selectors []string
	known     []sampler.Device
	chosen    map[sampler.GPUKey]bool
}

func (s *selection) has(d *sampler.Device) bool {
	key := d.Key()
	chosen, seen := s.chosen[key]
	if seen {
		return chosen
	}
	s.known = append(s.known, *d)
	for _, one := range s.selectors {
		found, err := sampler.Select(s.known, []string{one})
		chosen = chosen || err == nil && slices.Contains(found, len(s.known)-1)
	}
	s.chosen[key] = chosen
	return chosen
}

// checkSelection refuses a selector that fits no GPU of a recording. It reads as far as it must:
// a GPU may come later than the first snapshot.
func checkSelection(from input) error {
	if len(from.gpus) == 0 {
		return nil
	}
	in, err := openRecording(from)
	if err != nil {
		return err
	}
	defer in.Close()
	missing := sampler.ErrSelect
	for missing != nil {
		record, err := in.Next()
		switch {
		case errors.Is(err, io.EOF) && in.gpus.known != nil:
			return fmt.Errorf("%s: %w", from.Name, missing)
		case errors.Is(err, io.EOF):
			return nil // empty: reported where it is read
		case err != nil:
			return err
		case record.Snapshot != nil:
			_, missing = sampler.Select(in.gpus.known, from.gpus)
		}
	}
	return nil
}
