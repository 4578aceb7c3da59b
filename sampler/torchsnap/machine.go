package torchsnap

import (
	"errors"
	"fmt"
	"io"
	"strconv"
)

// ErrRefused is the error of a pickle that would call something, or has what no snapshot has.
var ErrRefused = errors.New("refused")

// ErrNoSnapshot is the error of a pickle in which there is no memory snapshot.
var ErrNoSnapshot = errors.New("it is a pickle, but no memory snapshot of PyTorch (torch.cuda.memory._dump_snapshot)")

const (
	stackMost = 100_000 // lists and dictionaries are written in parts of 1000
	depthMost = 100
)

// machine goes through the opcodes.
type machine struct {
	in      *input
	stack   []value
	marks   []int // places in the stack
	memo    memo
	texts   *texts
	frames  frameTable
	objects []*object
	spare   []int // places of objects that are free again
	fold    *fold
	proto   byte
}

func newMachine(in *input) *machine {
	m := &machine{in: in, texts: newTexts()}
	m.frames = newFrameTable(m.texts)
	m.fold = newFold(&m.frames, m.texts)
	return m
}

func (m *machine) refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s at byte %d", ErrRefused, fmt.Sprintf(format, args...), m.in.at)
}

// run reads to the end of the pickle. What it returns is an error of the input, or refused.
func (m *machine) run() error {
	for {
		op, err := m.in.byte()
		if err != nil {
			return err
		}
		if op == opStop {
			m.pop()
			return nil
		}
		if err := m.step(op); err != nil {
			return err
		}
		if len(m.stack) > stackMost {
			return m.refuse("more than %d values at once", stackMost)
		}
	}
}

// step is one opcode.
func (m *machine) step(op byte) error {
	switch op {
	case opProto:
		var err error
		if m.proto, err = m.in.byte(); err == nil && m.proto > 5 {
			return m.refuse("protocol %d", m.proto)
		}
		return err
	case opFrame:
		_, err := m.in.little(8)
		return err
	case opMark:
		if len(m.marks) >= depthMost {
			return m.refuse("more than %d levels", depthMost)
		}
		m.marks = append(m.marks, len(m.stack))
		return nil
	case opEmptyDict:
		m.push(m.open(true))
		return nil
	case opEmptyList:
		m.push(m.open(false))
		return nil
	case opAppend, opAppends, opSetItem, opSetItems, opDict, opList, opTuple, opTuple1, opTuple2, opTuple3:
		return m.collect(op)
	case opPut, opBinPut, opLongBinPut, opMemoize, opGet, opBinGet, opLongBinGet:
		return m.remember(op)
	}
	v, err := m.plain(op)
	if err == nil {
		m.push(v)
	}
	return err
}

// plain is a value without parts.
func (m *machine) plain(op byte) (value, error) {
	switch op {
	case opNone, opEmptyTuple:
		return opaque, nil
	case opNewTrue:
		return number(1), nil
	case opNewFalse:
		return number(0), nil
	case opInt, opLong:
		return m.in.decimal()
	case opBinInt:
		n, err := m.in.little(4)
		return number(int64(int32(n))), err
	case opBinInt1:
		n, err := m.in.little(1)
		return number(int64(n)), err
	case opBinInt2:
		n, err := m.in.little(2)
		return number(int64(n)), err
	case opLong1:
		return m.in.long(1)
	case opLong4:
		return m.in.long(4)
	case opBinFloat:
		return opaque, m.in.skip(8)
	case opFloat:
		_, err := m.in.line()
		return opaque, err
	}
	return m.text(op)
}

// text is a value of characters or bytes.
func (m *machine) text(op byte) (value, error) {
	width := map[byte]int{opShortBinUnicode: 1, opShortBinString: 1, opShortBinBytes: 1, opBinUnicode: 4, opBinString: 4, opBinBytes: 4,
		opBinUnicode8: 8, opBinBytes8: 8, opByteArray8: 8}
	switch op {
	case opShortBinUnicode: // most texts
		b, err := m.in.sized(1)
		if err != nil {
			return 0, err
		}
		return m.texts.add(b), nil
	case opUnicode:
		s, err := m.in.line()
		return m.texts.add([]byte(unescape(s))), err
	case opString:
		s, err := m.in.line()
		if n := len(s); n >= 2 && s[0] == s[n-1] {
			s = s[1 : n-1]
		}
		return m.texts.add([]byte(s)), err
	}
	if n, known := width[op]; known {
		b, err := m.in.sized(n)
		if err != nil {
			return 0, err
		}
		return m.texts.add(b), nil
	}
	if name, known := refused[op]; known {
		return 0, m.refuse("opcode %s, which would call or fetch something, and no memory snapshot has it,", name)
	}
	if name, known := foreign[op]; known {
		return 0, m.refuse("opcode %s, which no memory snapshot has,", name)
	}
	return 0, m.refuse("%#02x, which is no opcode,", op)
}

// unescape reads \uXXXX as protocol 0 writes what is not Latin-1.
func unescape(s string) string {
	if text, err := strconv.Unquote(`"` + s + `"`); err == nil {
		return text
	}
	return s
}

func (m *machine) push(v value) { m.stack = append(m.stack, v) }

// pop takes in the last value, for nothing.
func (m *machine) pop() {
	if n := len(m.stack); n > 0 {
		m.take(m.stack[n-1])
		m.stack = m.stack[:n-1]
	}
}

// mark is the place of the last mark.
func (m *machine) mark() (int, error) {
	n := len(m.marks)
	if n == 0 || m.marks[n-1] > len(m.stack) {
		return 0, m.refuse("an end without a beginning")
	}
	at := m.marks[n-1]
	m.marks = m.marks[:n-1]
	return at, nil
}

// remember puts the last value into the memo, or gets one from there.
func (m *machine) remember(op byte) error {
	if op == opMemoize {
		return m.put(uint64(m.memo.n))
	}
	var i uint64
	var err error
	switch op {
	case opBinPut, opBinGet:
		i, err = m.in.little(1)
	case opLongBinPut, opLongBinGet:
		i, err = m.in.little(4)
	default:
		var v value
		v, err = m.in.decimal()
		i = uint64(v.int())
	}
	switch {
	case err != nil:
		return err
	case op == opPut || op == opBinPut || op == opLongBinPut:
		return m.put(i)
	}
	v, known := m.memo.get(i)
	if !known {
		return m.refuse("a reference to nothing")
	}
	if v.kind() == kindOpen { // complete, or one that holds itself
		v = m.close(m.objects[v.place()])
	}
	m.push(v)
	return nil
}

func (m *machine) put(i uint64) error {
	if len(m.stack) == 0 {
		return m.refuse("nothing to remember")
	}
	v := m.stack[len(m.stack)-1]
	if v.kind() == kindOpen {
		if o := m.objects[v.place()]; o.memo < 0 {
			o.memo = int(i)
		} else {
			v = opaque // remembered twice
		}
	}
	if !m.memo.put(i, v) {
		return m.refuse("more objects, or stranger numbers of them, than a snapshot has")
	}
	return nil
}

// salvage closes what is open where the file ends, innermost first.
func (m *machine) salvage() {
	for len(m.marks) > 0 {
		at := m.marks[len(m.marks)-1]
		if at == 0 || at > len(m.stack) || m.stack[at-1].kind() != kindOpen {
			m.marks = m.marks[:len(m.marks)-1]
			continue
		}
		op := byte(opAppends)
		if m.objects[m.stack[at-1].place()].dict {
			op = opSetItems
			if (len(m.stack)-at)%2 == 1 {
				m.pop()
			}
		}
		if m.collect(op) != nil {
			return
		}
	}
}

// ended says whether an error means that the file is cut.
func ended(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
