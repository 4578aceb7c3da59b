package torchsnap

import "strings"

// fold is what the parts of a snapshot add up to while it is read.
type fold struct {
	frames   *frameTable
	texts    *texts
	found    bool // something that only a snapshot has
	framed   bool
	conf     string
	devices  map[int]*device
	trackers int
	cut      bool    // the file is
	last     *device // whose events are being read
}

// device is one GPU.
type device struct {
	segments, blocks                                int
	reserved, allocated, requested, awaiting, split int64
	cached, largest                                 int64
	privateFree                                     int64         // of the pools of CUDA graphs
	holders                                         map[int]*held // by line
	pins                                            map[int]*held
	trace                                           *trace
}

// held is what is due to a line.
type held struct {
	bytes  int64
	blocks int
}

const devicesMost = 256

func newFold(frames *frameTable, t *texts) *fold {
	return &fold{frames: frames, texts: t, devices: map[int]*device{}}
}

// device is the GPU of a number; nil for what is none.
func (f *fold) device(n int) *device {
	d := f.devices[n]
	if d == nil && n >= 0 && n < devicesMost {
		d = &device{holders: map[int]*held{}, pins: map[int]*held{}}
		f.devices[n] = d
	}
	return d
}

// settings reads those of the allocator.
func (f *fold) settings(o *object) {
	for _, key := range []int{keyConf, keyConfNew} {
		if s := f.texts.of(o.fields[key]); s != "" {
			f.conf = s
		}
	}
	if f.conf == "" && o.fields[keyExpandable].int() == 1 {
		f.conf = "expandable_segments:True"
	}
}

// blockState is what a block is, in few words.
type blockState uint8

const (
	blockFree blockState = iota
	blockLive
	blockAwaiting
)

func stateOf(text string) blockState {
	switch {
	case text == "active_allocated":
		return blockLive
	case strings.HasPrefix(text, "active"):
		return blockAwaiting
	}
	return blockFree
}

// blockSums are the blocks of a segment, added up by state and line.
type blockSums map[blockKey]*blockSum

type blockKey struct {
	state blockState
	site  int
}

type blockSum struct {
	bytes, requested, largest int64
	count                     int
}

// block adds one to those of its segment.
func (f *fold) block(list, o *object) {
	f.found = true
	key := blockKey{state: stateOf(f.texts.of(o.fields[keyState]))}
	if key.state != blockFree {
		stack := o.fields[keyFrames]
		if stack.place() == 0 {
			stack = o.fields[keyHistory]
		}
		key.site = f.frames.siteOfValue(stack)
	}
	if list.blocks == nil {
		list.blocks = blockSums{}
	}
	sum := list.blocks[key]
	if sum == nil {
		sum = &blockSum{}
		list.blocks[key] = sum
	}
	size := o.fields[keySize].size()
	requested := o.fields[keyRequested].size()
	if requested == 0 {
		requested = size
	}
	sum.bytes, sum.requested, sum.largest, sum.count = sum.bytes+size, sum.requested+requested, max(sum.largest, size), sum.count+1
}

// segment adds one to those of its GPU.
func (f *fold) segment(o *object) {
	f.found = true
	d := f.device(int(o.fields[keyDevice].int()))
	if d == nil {
		return
	}
	total := o.fields[keyTotal].size()
	d.segments, d.reserved = d.segments+1, d.reserved+total
	if o.blocks == nil { // no list of blocks: the sums that the segment has itself
		d.allocated += o.fields[keyAllocated].size()
		d.requested += o.fields[keyRequested].size()
		return
	}
	live, count, free, private := int64(0), 0, int64(0), o.fields[keyPool].int() != 0
	for key, sum := range o.blocks {
		d.blocks += sum.count
		switch key.state {
		case blockFree:
			free += sum.bytes
			if !private {
				d.largest = max(d.largest, sum.largest)
			}
			continue
		case blockAwaiting:
			d.awaiting += sum.bytes
		default:
			d.allocated, d.requested = d.allocated+sum.bytes, d.requested+sum.requested
			add(d.holders, key.site, sum.bytes, sum.count)
		}
		live, count = live+sum.bytes, count+sum.count
		f.framed = f.framed || key.site > 0
	}
	if private {
		d.privateFree += free
	}
	if live == 0 {
		d.cached += free
		return
	}
	d.split += free
	for key, sum := range o.blocks {
		if key.state != blockFree { // a small block keeps a segment as a large one does
			add(d.pins, key.site, int64(float64(free)*float64(sum.count)/float64(count)), sum.count)
		}
	}
}

func add(to map[int]*held, site int, bytes int64, blocks int) {
	h := to[site]
	if h == nil {
		h = &held{}
		to[site] = h
	}
	h.bytes, h.blocks = h.bytes+bytes, h.blocks+blocks
}
