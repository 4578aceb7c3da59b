package sampler

import (
	"slices"
	"strconv"
	"strings"
)

// Ordinals knows which GPU a process means by a number, as of one snapshot.
type Ordinals struct {
	all     []GPUKey // that a program can be given
	uuids   []string // of those
	ordered []GPUKey // by index, which is that of the bus; zero where there is none of it
	alike   bool     // of one kind
}

// maxOrdinal is the highest index of a GPU that is believed.
const maxOrdinal = 1023

// NewOrdinals takes the GPUs of a snapshot that are on its host.
func NewOrdinals(s *Snapshot) (d Ordinals) {
	d.alike = true
	for _, g := range s.Assignable() {
		if g.Host != "" {
			continue
		}
		d.all, d.uuids = append(d.all, g.Key()), append(d.uuids, g.UUID)
		d.alike = d.alike && g.Name == s.GPUs[0].Name
		for g.MIG == nil && len(d.ordered) <= g.Index && g.Index <= maxOrdinal {
			d.ordered = append(d.ordered, GPUKey{})
		}
		if g.MIG == nil && g.Index >= 0 && g.Index < len(d.ordered) {
			d.ordered[g.Index] = g.Key()
		}
	}
	return d
}

// Only is the GPU where there is one; else the zero key.
func (d *Ordinals) Only() (key GPUKey) {
	if len(d.all) == 1 {
		return d.all[0]
	}
	return key
}

// Key is the GPU that a process calls by a number; the zero key: not known.
func (d *Ordinals) Key(p *Process, n int) (key GPUKey) {
	if list := d.visible(p); n >= 0 && n < len(list) {
		return list[n]
	}
	return key
}

// Number is what a process calls a GPU that it uses; false: not known.
func (d *Ordinals) Number(p *Process, key GPUKey) (n int, known bool) {
	list := d.see(p, true)
	if len(list) == 1 { // whichever it is, it uses that
		return 0, true
	}
	n = slices.Index(list, key)
	return n, n >= 0
}

// Sole is the only GPU that a process can see; the zero key: it sees several, or that is not known.
func (d *Ordinals) Sole(p *Process) (key GPUKey) {
	if list := d.visible(p); len(list) == 1 && (len(d.ordered) != 1 || len(d.all) == 1) { // else there are others, of no index
		return list[0]
	}
	return key
}

// visible are the GPUs that a process can see, by its numbers, zero where one is not known; none: nothing is known.
func (d *Ordinals) visible(p *Process) []GPUKey { return d.see(p, false) }

// see are those GPUs. uses: it uses one of the snapshot, so its list is good up to there, also where it names some that are not in it. CUDA
// numbers the visible ones in the order of CUDA_VISIBLE_DEVICES or else in its own, the fastest first, which is that of the bus only where all
// are of one kind: https://docs.nvidia.com/cuda/cuda-c-programming-guide/#cuda-environment-variables
func (d *Ordinals) see(p *Process, uses bool) []GPUKey {
	if p.Environment == nil { // not readable
		return nil
	}
	list := d.ordered
	if len(list) == 0 {
		list = d.all // instances of MIG
	}
	if v, ok := p.Environment["NVIDIA_VISIBLE_DEVICES"]; ok && p.Container.Known() && v != "all" && v != "" && v != "void" && v != "none" {
		list = d.pick(list, v, true, uses)
	}
	inOrder := d.alike || p.Environment["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
	if v, ok := p.Environment["CUDA_VISIBLE_DEVICES"]; ok {
		return d.pick(list, v, inOrder, uses)
	}
	if !inOrder {
		return nil
	}
	return list
}

// pick are the GPUs that a list of numbers and UUIDs names, in its order, up to the first that is none; zero for a
// number that cannot be trusted, and, where it goes on past those, for one that is not there.
func (d *Ordinals) pick(from []GPUKey, list string, inOrder, past bool) (picked []GPUKey) {
	for word := range strings.SplitSeq(list, ",") {
		word = strings.TrimSpace(word)
		var key GPUKey
		if n, err := strconv.Atoi(word); err == nil {
			there := n < len(from)
			if n < 0 || !there && !past {
				return picked
			}
			if there && inOrder {
				key = from[n]
			}
		} else if i := slices.IndexFunc(d.uuids, func(u string) bool { return word != "" && strings.HasPrefix(u, word) }); i >= 0 {
			key = d.all[i]
		} else if !past || word == "" {
			return picked
		}
		picked = append(picked, key)
	}
	return picked
}
