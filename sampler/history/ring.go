package history

// ring holds one value per step. The slot of a step is its number since 1970 modulo the
// size; what is older than the size has been overwritten. Memory of a process often is the
// same for hours, and most rings are young: a block whose slots are all the same is one number.
type ring struct {
	size   int64
	blocks []slots
	spare  *[slotCount]float32 // of a block that became one number
	last   int64               // number of the newest step, 0 before the first
}

const slotCount = 64

// slots are those of one block: each its own, or all the same.
type slots struct {
	each *[slotCount]float32
	all  float32
}

func newRing(size int) ring {
	r := ring{size: int64(size), blocks: make([]slots, (size+slotCount-1)/slotCount)}
	for i := range r.blocks {
		r.blocks[i].all = nan32
	}
	return r
}

// put notes v at step n. A step before the newest is merged into the newest: when time
// runs backwards no peak is lost.
func (r *ring) put(n int64, v float32, byMin bool) {
	if n > r.last {
		for k := max(r.last+1, n-r.size+1); k < n && r.last > 0; k++ { // a new one holds nothing else
			r.set(k, nan32)
		}
		r.set(n, v)
		r.last = n
		return
	}
	if over(v, r.get(r.last), byMin) {
		r.set(r.last, v)
	}
}

func (r *ring) get(n int64) float32 {
	n %= r.size
	if b := &r.blocks[n/slotCount]; b.each != nil {
		return b.each[n%slotCount]
	}
	return r.blocks[n/slotCount].all
}

// set writes the slot of a step. Where a block begins, the one before it is complete.
func (r *ring) set(n int64, v float32) {
	n %= r.size
	if n%slotCount == 0 {
		r.fold((n + r.size - 1) % r.size / slotCount)
	}
	b := &r.blocks[n/slotCount]
	if b.each == nil {
		if alike(b.all, v) {
			return
		}
		b.each, r.spare = r.spare, nil
		if b.each == nil {
			b.each = new([slotCount]float32)
		}
		for i := range b.each {
			b.each[i] = b.all
		}
	}
	b.each[n%slotCount] = v
}

// fold makes a block whose slots are all the same one number.
func (r *ring) fold(i int64) {
	b := &r.blocks[i]
	if b.each == nil {
		return
	}
	for _, v := range b.each[:min(slotCount, r.size-i*slotCount)] {
		if !alike(v, b.each[0]) {
			return
		}
	}
	b.all, r.spare, b.each = b.each[0], b.each, nil
}

// over says whether v is to be kept instead of what was, NaN for nothing yet: the most, or the least.
func over(v, was float32, byMin bool) bool {
	if byMin {
		v, was = -v, -was
	}
	return was != was || v > was
}

func alike(a, b float32) bool { return a == b || a != a && b != b }

// most is the most (or least) of the steps from..to, as far as they are kept.
func (r *ring) most(from, to int64, byMin bool) float32 {
	best := nan32
	if from, to = max(from, r.last-r.size+1, 0), min(to, r.last); r.last == 0 || from > to {
		return best
	}
	for i := from % r.size; from <= to; { // a block at a time, or what is left of it: most of them hold one value
		b, slot := &r.blocks[i/slotCount], i%slotCount
		n := min(slotCount-slot, to-from+1, r.size-i)
		values := []float32{b.all}
		if b.each != nil {
			values = b.each[slot : slot+n]
		}
		for _, v := range values {
			if over(v, best, byMin) {
				best = v
			}
		}
		from += n
		if i += n; i == r.size {
			i = 0
		}
	}
	return best
}
