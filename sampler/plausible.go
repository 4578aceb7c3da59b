package sampler

// Plausible is a size that a driver or a message can have meant: known and no sentinel
// near 2^64.
func Plausible(o Opt[Bytes]) (Bytes, bool) {
	v, ok := o.Value()
	if v >= MaxPlausible {
		return 0, false
	}
	return v, ok
}

// PlausibleTotal is the size of the GPU's memory; absent when it is 0 or nonsense.
func (m Memory) PlausibleTotal() Opt[Bytes] {
	if t, ok := Plausible(m.Total); ok && t > 0 {
		return Some(t)
	}
	return Opt[Bytes]{}
}

// PlausibleUsed is the used memory, clamped to the total; absent when either is unknown.
func (m Memory) PlausibleUsed() Opt[Bytes] {
	t, ok := m.PlausibleTotal().Value()
	u, known := Plausible(m.Used)
	if !ok || !known {
		return Opt[Bytes]{}
	}
	return Some(min(u, t))
}

// Usable is what all processes together can have: the total less what driver and firmware
// reserve; 0 when unknown.
func (m Memory) Usable() Bytes {
	r, _ := Plausible(m.Reserved)
	return m.PlausibleTotal().Or(0).Less(r)
}

// PlausibleFree is what is left for new requests: as the driver says, else total less
// used less reserved.
func (m Memory) PlausibleFree() Opt[Bytes] {
	t, ok := m.PlausibleTotal().Value()
	if !ok {
		return Opt[Bytes]{}
	}
	if f, ok := Plausible(m.Free); ok && f <= t {
		return Some(f)
	}
	if u, ok := m.PlausibleUsed().Value(); ok {
		r, _ := Plausible(m.Reserved)
		return Some(t.Less(u).Less(r))
	}
	return Opt[Bytes]{}
}

// PlausibleUnattributed is the used memory of no process the driver names: as measured,
// else used less the sum of the processes when there are any and all are known.
func (g *GPU) PlausibleUnattributed() (Bytes, bool) {
	if u, ok := Plausible(g.Memory.Unattributed); ok {
		return u, true
	}
	u, ok := g.Memory.PlausibleUsed().Value()
	if !ok || len(g.Processes) == 0 {
		return 0, false
	}
	var sum Bytes
	for i := range g.Processes {
		m, ok := Plausible(g.Processes[i].Memory)
		if !ok {
			return 0, false
		}
		sum += m
	}
	return u.Less(sum), true
}
