package torchsnap

// value is anything on the stack or in the memo: its kind in the upper 4 bits, and a number or a place in a table.
type value uint64

const (
	kindOpaque = iota // nothing that matters here
	kindNumber
	kindText  // place in texts
	kindOpen  // a list or dictionary that is not taken in yet: place in objects
	kindFrame // place in frames
	kindStack // place in stacks
)

const (
	payloadBits       = 60
	payload           = 1<<payloadBits - 1
	opaque      value = 0
)

func make60(kind int, n uint64) value { return value(uint64(kind)<<payloadBits | n&payload) }

func (v value) kind() int  { return int(v >> payloadBits) }
func (v value) place() int { return int(v & payload) }

// number is an integer, if it is one that an address, a size or a time can be.
func number(n int64) value {
	if n < -1<<(payloadBits-1) || n >= 1<<(payloadBits-1) {
		return opaque
	}
	return make60(kindNumber, uint64(n))
}

// int is the number a value is, 0 for others.
func (v value) int() int64 {
	if v.kind() != kindNumber {
		return 0
	}
	const shift = 64 - payloadBits
	return int64(v<<shift) >> shift
}

// size is the amount a value is; what is below 0 is none.
func (v value) size() int64 { return max(0, v.int()) }
