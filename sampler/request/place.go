package request

import (
	"slices"
	"strconv"
	"strings"

	"nvpeak/sampler"
)

// devices are the GPUs of the newest snapshot.
type devices struct {
	all     []sampler.GPUKey // that a program can be given
	uuids   []string         // of those
	ordered []sampler.GPUKey // by index, which is that of the bus; zero where there is none of it
	alike   bool             // of one kind
}

func newDevices(s *sampler.Snapshot) (d devices) {
	d.alike = true
	for _, g := range s.Assignable() {
		if g.Host != "" {
			continue
		}
		d.all, d.uuids = append(d.all, g.Key()), append(d.uuids, g.UUID)
		d.alike = d.alike && g.Name == s.GPUs[0].Name
		for g.MIG == nil && len(d.ordered) <= g.Index && g.Index < maxHandles {
			d.ordered = append(d.ordered, sampler.GPUKey{})
		}
		if g.MIG == nil && g.Index < len(d.ordered) {
			d.ordered[g.Index] = g.Key()
		}
	}
	return d
}

// place finds the seat's GPU; the zero key: not known.
func (t *Tracker) place(p *process, s *seat) sampler.GPUKey {
	best, votes := s.elected()
	on := t.listed[p.pid]
	if votes >= enough && (len(on) == 0 || slices.Contains(on, best)) {
		return best
	}
	key := t.devices.ordinal(&p.who, s.key.device)
	switch {
	case key != sampler.GPUKey{} && (len(on) == 0 || slices.Contains(on, key)):
		return key
	case len(on) == 1:
		return on[0]
	case votes > 0:
		return best
	case len(on) == 0 && len(t.devices.all) == 1:
		return t.devices.all[0]
	}
	return sampler.GPUKey{}
}

// ordinal is the GPU that a process calls by a number; the zero key: not known. CUDA numbers the visible ones in the
// order of CUDA_VISIBLE_DEVICES or else in its own, the fastest first, which is that of the bus only where all are of one
// kind: https://docs.nvidia.com/cuda/cuda-c-programming-guide/#cuda-environment-variables
func (d *devices) ordinal(p *sampler.Process, n int) (key sampler.GPUKey) {
	if n < 0 || p.Environment == nil { // not readable
		return key
	}
	list := d.ordered
	if len(list) == 0 {
		list = d.all // instances of MIG
	}
	if v, ok := p.Environment["NVIDIA_VISIBLE_DEVICES"]; ok && p.Container.Known() && v != "all" && v != "" && v != "void" && v != "none" {
		list = d.pick(list, v, true)
	}
	inOrder := d.alike || p.Environment["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
	if v, ok := p.Environment["CUDA_VISIBLE_DEVICES"]; ok {
		list = d.pick(list, v, inOrder)
	} else if !inOrder {
		return key
	}
	if n < len(list) {
		return list[n]
	}
	return key
}

// pick are the GPUs that a list of numbers and UUIDs names, in its order, up to the first that is none; zero for a
// number that cannot be trusted.
func (d *devices) pick(from []sampler.GPUKey, list string, inOrder bool) (picked []sampler.GPUKey) {
	for word := range strings.SplitSeq(list, ",") {
		word = strings.TrimSpace(word)
		var key sampler.GPUKey
		if n, err := strconv.Atoi(word); err == nil {
			if n < 0 || n >= len(from) {
				return picked
			}
			if inOrder {
				key = from[n]
			}
		} else {
			i := slices.IndexFunc(d.uuids, func(u string) bool { return word != "" && strings.HasPrefix(u, word) })
			if i < 0 {
				return picked
			}
			key = d.all[i]
		}
		picked = append(picked, key)
	}
	return picked
}
