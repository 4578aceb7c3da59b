package sampler

import "strconv"

// GPUKey is the identity of a GPU or MIG instance over reconnects, renumbering and hosts.
// An index is for people only: instances of one GPU share it, and every host has a GPU 0.
type GPUKey struct {
	Host string // empty: the host of the snapshot
	ID   string // UUID of the GPU or of the MIG instance; without one "index " and its label
}

// Key identifies the GPU.
func (g *GPU) Key() GPUKey { return GPUKey{g.Host, id(g.UUID, g.Index, g.MIG)} }

// Key identifies the device on its own host.
func (d *Device) Key() GPUKey { return GPUKey{ID: id(d.UUID, d.Index, d.MIG)} }

func id(uuid string, index int, mig *MIG) string {
	if uuid != "" {
		return uuid
	}
	return "index " + label(index, mig)
}

// String is the key as one word, for maps that are written down and for IDs.
func (k GPUKey) String() string {
	if k.Host != "" {
		return k.Host + "/" + k.ID
	}
	return k.ID
}

// Label is how the GPU is called on screen: "3", or "3:1" for MIG instance 1 of GPU 3.
func (g *GPU) Label() string { return label(g.Index, g.MIG) }

// Assignable are the GPUs that a program can be given: MIG instances, and GPUs that are not split into some.
func (s *Snapshot) Assignable() (list []*GPU) {
	for i := range s.GPUs {
		if g := &s.GPUs[i]; !s.Split(g) {
			list = append(list, g)
		}
	}
	return list
}

// Split says whether a GPU is listed by its MIG instances, too: its memory is theirs, and programs run on them alone. They
// have its index, and where that is told its UUID: exporters tell none.
func (s *Snapshot) Split(g *GPU) bool {
	if g.MIG != nil {
		return false
	}
	for i := range s.GPUs {
		o := &s.GPUs[i]
		if o.MIG != nil && o.Index == g.Index && o.Host == g.Host && (o.MIG.ParentUUID == "" || g.UUID == "" || o.MIG.ParentUUID == g.UUID) {
			return true
		}
	}
	return false
}

// Label is how the device is called, as GPU.Label.
func (d *Device) Label() string { return label(d.Index, d.MIG) }

func label(index int, mig *MIG) string {
	if mig != nil {
		return strconv.Itoa(index) + ":" + strconv.Itoa(mig.Index)
	}
	return strconv.Itoa(index)
}

// Find is the GPU with that key, or nil.
func (s *Snapshot) Find(key GPUKey) *GPU {
	for i := range s.GPUs {
		if s.GPUs[i].Key() == key {
			return &s.GPUs[i]
		}
	}
	return nil
}

// ProcessKey identifies a process on a GPU: pids are used again, so the start time
// belongs to it. Start is in Unix seconds, 0 when it is not known.
type ProcessKey struct {
	GPU   GPUKey
	PID   int
	Start int64
}

// Key identifies the process on this GPU.
func (p *Process) Key(gpu GPUKey) ProcessKey {
	k := ProcessKey{GPU: gpu, PID: p.PID}
	if t, ok := p.StartTime.Value(); ok {
		k.Start = t.Unix()
	}
	return k
}
