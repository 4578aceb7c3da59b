package torchsnap

// Keys of a snapshot. Each is the place of its text in texts.
const (
	keySegments = iota + 1
	keyTraces
	keySettings
	keyAnnotations
	keyDevice
	keyTotal
	keyAllocated
	keyActive
	keyRequested
	keySize
	keyFrames
	keyHistory
	keyBlocks
	keyState
	keyAction
	keyAddr
	keyTime
	keyFree
	keyFile
	keyLine
	keyName
	keyConf
	keyConfNew
	keyExpandable
	keyPool
	keys // how many, and 1
)

var keyTexts = [keys]string{"", "segments", "device_traces", "allocator_settings", "external_annotations", "device", "total_size", "allocated_size",
	"active_size", "requested_size", "size", "frames", "history", "blocks", "state", "action", "addr", "time_us", "device_free",
	"filename", "line", "name", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "expandable_segments", "segment_pool_id"}

const (
	textsMost     = 1 << 18 // different texts
	textBytesMost = 64 << 20
)

// texts keeps each text once.
type texts struct {
	list  []string
	place map[string]int
	bytes int
}

func newTexts() *texts {
	t := &texts{place: map[string]int{}}
	for i, s := range keyTexts {
		t.list = append(t.list, s)
		t.place[s] = i
	}
	return t
}

// add is the value of a text. Texts beyond the bounds are not told apart.
func (t *texts) add(b []byte) value {
	if i, known := t.place[string(b)]; known {
		return make60(kindText, uint64(i))
	}
	if len(t.list) >= textsMost || t.bytes+len(b) > textBytesMost {
		return opaque
	}
	s := string(b)
	t.place[s] = len(t.list)
	t.list, t.bytes = append(t.list, s), t.bytes+len(s)
	return make60(kindText, uint64(len(t.list)-1))
}

// of is the text a value is, empty for others.
func (t *texts) of(v value) string {
	if v.kind() != kindText {
		return ""
	}
	return t.list[v.place()]
}
