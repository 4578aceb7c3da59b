package torchsnap

// object is a list or dictionary that nothing has taken in yet. Of a dictionary the known keys are kept; of a
// list what its items add up to.
type object struct {
	dict   bool
	memo   int // where it is remembered; -1: nowhere
	closed bool
	value  value // when closed
	fields [keys]value
	set    uint32 // keys that are there
	count  int    // items of a list
	frames []int  // of a list of frames, as places in the table
	stack  value  // of a list of former uses of a block
	blocks blockSums
}

// open makes an object and is its value.
func (m *machine) open(dict bool) value {
	if n := len(m.spare); n > 0 {
		i := m.spare[n-1]
		m.spare = m.spare[:n-1]
		o := m.objects[i]
		*o = object{dict: dict, memo: -1, frames: o.frames[:0]}
		return make60(kindOpen, uint64(i))
	}
	m.objects = append(m.objects, &object{dict: dict, memo: -1})
	return make60(kindOpen, uint64(len(m.objects)-1))
}

// close is what an object is to those that refer to it from now on.
func (m *machine) close(o *object) value {
	if o.closed {
		return o.value
	}
	o.closed = true
	switch {
	case o.dict && o.has(keyFile):
		o.value = m.frames.add(o.fields[keyFile], o.fields[keyLine].int(), o.fields[keyName])
	case !o.dict && len(o.frames) > 0:
		o.value = m.frames.stack(o.frames)
	case !o.dict:
		o.value = max(o.stack, make60(kindStack, 0))
	}
	if o.memo >= 0 {
		m.memo.put(uint64(o.memo), o.value)
	}
	return o.value
}

// take closes an object that its holder has taken in, and frees its place.
func (m *machine) take(v value) value {
	if v.kind() != kindOpen {
		return v
	}
	o := m.objects[v.place()]
	out := m.close(o)
	o.blocks = nil
	m.spare = append(m.spare, v.place())
	return out
}

func (o *object) has(key int) bool { return o.set&(1<<key) != 0 }

// collect puts values into the list or dictionary before them.
func (m *machine) collect(op byte) error {
	at := len(m.stack)
	switch op {
	case opAppend, opTuple1:
		at--
	case opSetItem, opTuple2:
		at -= 2
	case opTuple3:
		at -= 3
	default:
		var err error
		if at, err = m.mark(); err != nil {
			return err
		}
	}
	if at < 0 || len(m.marks) > 0 && m.marks[len(m.marks)-1] > at {
		return m.refuse("too few values")
	}
	switch op {
	case opTuple, opTuple1, opTuple2, opTuple3:
		pair := pairOf(m.stack[at:])
		m.drop(at)
		m.push(pair)
		return nil
	case opDict, opList: // begun by the mark
		m.stack = append(m.stack, 0)
		copy(m.stack[at+1:], m.stack[at:])
		m.stack[at] = m.open(op == opDict)
		at++
	}
	isDict := op == opSetItem || op == opSetItems || op == opDict
	if at == 0 || m.stack[at-1].kind() != kindOpen || m.objects[m.stack[at-1].place()].dict != isDict {
		return m.refuse("a list or dictionary is missing")
	}
	if isDict {
		return m.setItems(at)
	}
	return m.appendItems(at)
}

// pairOf is what a tuple is: of two numbers, such as the id of a pool, whether one is not 0.
func pairOf(items []value) value {
	if len(items) != 2 || items[0].kind() != kindNumber || items[1].kind() != kindNumber {
		return opaque
	}
	if items[0].int() == 0 && items[1].int() == 0 {
		return number(0)
	}
	return number(1)
}

// drop takes the values from a place on off the stack.
func (m *machine) drop(at int) {
	for _, v := range m.stack[at:] {
		m.take(v)
	}
	m.stack = m.stack[:at]
}

func (m *machine) setItems(at int) error {
	if (len(m.stack)-at)%2 != 0 {
		return m.refuse("a key without a value")
	}
	o := m.objects[m.stack[at-1].place()]
	for i := at; i < len(m.stack); i += 2 {
		key, v := m.take(m.stack[i]), m.stack[i+1]
		if key.kind() != kindText || key.place() >= keys {
			m.take(v)
			continue
		}
		m.setKey(o, key.place(), v)
	}
	m.stack = m.stack[:at]
	return nil
}

// setKey puts a value under a known key.
func (m *machine) setKey(o *object, key int, v value) {
	if v.kind() == kindOpen {
		inner := m.objects[v.place()]
		switch key {
		case keyBlocks:
			o.blocks = inner.blocks
		case keySettings:
			m.fold.settings(inner)
		}
	}
	switch key {
	case keySegments, keyTraces:
		m.fold.found = true
	}
	o.fields[key] = m.take(v)
	o.set |= 1 << key
}

func (m *machine) appendItems(at int) error {
	list := m.objects[m.stack[at-1].place()]
	for _, v := range m.stack[at:] {
		if v.kind() == kindOpen && m.objects[v.place()].dict && !m.objects[v.place()].closed {
			m.appendDict(list, m.objects[v.place()], at-1)
		}
		v = m.take(v)
		if v.kind() == kindFrame && len(list.frames) < framesMost {
			list.frames = append(list.frames, v.place())
		}
		list.count++
	}
	m.stack = m.stack[:at]
	return nil
}

// appendDict folds a dictionary of a list, by its keys.
func (m *machine) appendDict(list, o *object, at int) {
	switch {
	case o.has(keyAction):
		m.fold.event(m.listIndex(at), o)
	case o.has(keyTotal):
		m.fold.segment(o)
	case o.has(keyState) && o.has(keySize):
		m.fold.block(list, o)
	case o.has(keyFrames) && !o.has(keyFile): // a former use; the last one is that of now
		if list.count == 0 {
			list.stack = o.fields[keyFrames]
		}
	}
}

// listIndex is the place in its list of the list at a place of the stack: for a list of events the GPU.
func (m *machine) listIndex(at int) int {
	from := 0
	if n := len(m.marks); n > 0 {
		from = m.marks[n-1]
	}
	count := func(at int) int {
		if at < 0 || m.stack[at].kind() != kindOpen || m.objects[m.stack[at].place()].dict {
			return 0
		}
		return m.objects[m.stack[at].place()].count
	}
	if at-1 >= from && at >= 2 && m.stack[at-2] == make60(kindText, keyTraces) {
		return count(at - 1) // protocol 0: right behind the list that it will be in
	}
	return count(from-1) + at - from
}
