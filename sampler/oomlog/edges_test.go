package oomlog

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"nvpeak/sampler"
)

// Pieces become lines, wherever they are cut; bars of progress overwrite one another, and lines beyond a MiB are cut.
func TestSplitter(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	for text, want := range map[string]string{
		"a\nb\n": "1a 2b", "a\r\nb": "1a 2b", "a\rb\rc\n": "1a~ 1b~ 1c", "\ra\n": "1a", "a\r\rb\n": "1a~ 1b", "\n\na": "1 2 3a", "a\r": "1a\r", "\r\n": "1", "": "",
		long + "\n": "1" + long, long + "y\n": "1" + long + " 1y", long + long + "\nz\n": "1" + long + " 1" + long + " 2z",
	} {
		for _, chunk := range []int{1 << 30, 1000, 3} {
			if chunk == 3 && len(text) > maxLine {
				continue
			}
			var got []string
			s := splitter{number: 1, take: func(raw []byte, number int, overwritten bool) {
				got = append(got, fmt.Sprint(number, string(raw), map[bool]string{true: "~"}[overwritten]))
			}}
			for piece := range slices.Chunk([]byte(text), chunk) {
				s.write(piece)
			}
			s.flush()
			if joined := strings.ReplaceAll(strings.Join(got, "|"), " ", ""); joined != strings.ReplaceAll(want, " ", "|") {
				t.Errorf("%.20q in pieces of %d: %.60q, want %.60q", text, chunk, joined, want)
			}
		}
	}
}

// The ring keeps 256 lines and the end of each; a line that ended in a carriage return is overwritten, one that is lent is not.
func TestRing(t *testing.T) {
	var r ring
	texts := func() (out []string) {
		for _, l := range r.tail(ringLines) {
			out = append(out, string(l.text))
		}
		return out
	}
	r.add([]byte("a"), 1, true)
	r.add([]byte("b"), 1, true)
	r.add([]byte("c"), 2, false)
	r.add([]byte("d"), 2, false)
	if got := strings.Join(texts(), ""); got != "bcd" {
		t.Errorf("%s: an open line is overwritten by one of its number", got)
	}
	r.add([]byte("e"), 3, true)
	lent := r.lend(2)
	r.add([]byte("f"), 3, false)
	if got := strings.Join(texts(), "") + " " + string(lent[0].text) + string(lent[1].text); got != "bcdf de" {
		t.Errorf("%s: what is lent stays", got)
	}
	first := &r.lines[0]
	for n := range 5 * ringLines {
		if r.add([]byte(strings.Repeat("x", keepBytes)+"y"), n+4, false); n == 9 && &r.lines[0] != first {
			t.Error("the lines move before there are many")
		}
		if len(r.tail(9999)) > ringLines || cap(r.lines) > 2*ringLines {
			t.Fatalf("%d lines, room for %d", len(r.tail(9999)), cap(r.lines))
		}
	}
	if l := r.tail(1)[0]; len(l.text) != keepBytes || l.text[keepBytes-1] != 'y' || string(lent[1].text) != "e" || r.held != 3 {
		t.Errorf("%d bytes of a line, %q is lent, %d bytes are held", len(l.text), lent[1].text, r.held)
	}
}

// The fact book keeps the first 96 lines and the last 96, their beginnings too, and reads each once.
func TestFactBook(t *testing.T) {
	var p past
	for n := 1; n <= 200; n++ {
		raw := []byte(fmt.Sprintf("world_size: %d %s", n, strings.Repeat("x", 20*n)))
		p.facts.add(raw, p.ring.add(raw, n, false))
		if n%70 == 0 && p.facts.all(nil).WorldSize != sampler.Some(n) {
			t.Errorf("after %d lines the last says %v", n, p.facts.all(nil).WorldSize)
		}
	}
	var numbers []int
	p.facts.each(func(l *factLine) { numbers = append(numbers, l.number) })
	if len(numbers) != 2*factLines || numbers[0] != 1 || numbers[95] != 96 || numbers[96] != 105 || numbers[191] != 200 || !slices.IsSorted(numbers) {
		t.Errorf("%d lines: %v", len(numbers), numbers)
	}
	if p.facts.all(nil).WorldSize != sampler.Some(200) {
		t.Errorf("the last of them says %v", p.facts.all(nil).WorldSize)
	}
	for _, length := range []int{keepBytes - 1, keepBytes, keepBytes + 50} {
		p = past{}
		raw := []byte("world_size: 8 ")
		raw = append(raw, bytes.Repeat([]byte("x"), length-len(raw))...)
		p.facts.add(raw, p.ring.add(raw, 1, false))
		if p.facts.all(nil).WorldSize != sampler.Some(8) {
			t.Errorf("a line of %d bytes says %v", length, p.facts.all(nil).WorldSize)
		}
	}
	p = past{}
	raw := []byte("world_size: 8")
	p.facts.add(raw, p.ring.add(raw, 1, false))
	for n := range 2 * ringLines {
		p.ring.add([]byte("world_size: 9"), n+2, false)
	}
	if p.facts.all(nil).WorldSize != sampler.Some(8) {
		t.Errorf("another line in its place says %v", p.facts.all(nil).WorldSize)
	}
}

// What is trained of the parameters, and with which optimizer, as programs print it.
func TestTrainedSaid(t *testing.T) {
	for text, want := range map[string]struct {
		trained   uint64
		optimizer string
	}{
		"trainable params: 80,740,352 || all params: 7,696,357,888 || trainable%: 1.0491": {80_740_352, ""},
		"1.2 M     Trainable params":                                         {1_200_000, ""},
		"Trainable params: 11.2 M":                                           {11_200_000, ""},
		"Non-trainable params: 44 M":                                         {0, ""},
		"44.5 M    Non-trainable params":                                     {0, ""},
		"sequence_len: 3072, micro_batch_size: 4, optimizer: adamw_bnb_8bit": {0, "adamw_bnb_8bit"},
		`"optim": "paged_adamw_8bit",`:                                       {0, "paged_adamw_8bit"},
		"optimizer: step 3":                                                  {0, ""},
	} {
		c := &sampler.LogContext{Environment: map[string]string{}}
		for _, s := range findFacts((&whole{text: text}).all()) {
			s.set(c, s.value, s.groups)
		}
		if c.Trained.Or(0) != want.trained || c.Optimizer != want.optimizer {
			t.Errorf("%s: %d, %q", text, c.Trained.Or(0), c.Optimizer)
		}
	}
}

// Parameters are counted from a thousand to a million times a billion, the most of what is said.
func TestParametersSaid(t *testing.T) {
	for text, want := range map[string]uint64{
		"all params: 999": 0, "all params: 1000": 1000, "all params: 999999999999999": 999999999999999, "all params: 1000000000000000": 0,
		"1.5M params": 1_500_000, "2K parameters": 2000, "3B params": 3_000_000_000, "trainable params: 4,000 || all params: 5,000": 5000, "all params: 5,000": 5000,
	} {
		c := &sampler.LogContext{Environment: map[string]string{}}
		for _, s := range findFacts((&whole{text: text}).all()) {
			s.set(c, s.value, s.groups)
		}
		if c.Parameters.Or(0) != want {
			t.Errorf("%s: %d", text, c.Parameters.Or(0))
		}
	}
	c := &sampler.LogContext{Parameters: sampler.Some(uint64(9000))}
	if setParameters(c, "5000", []string{"", ""}); c.Parameters.Or(0) != 9000 {
		t.Errorf("fewer parameters count: %d", c.Parameters.Or(0))
	}
	for _, row := range []struct {
		shape []int
		want  bool
	}{{nil, false}, {[]int{0, 5}, false}, {[]int{1}, true}, {[]int{1 << 30, 1 << 27}, true}, {[]int{1 << 30, 1 << 30}, false}} {
		if n, ok := shapeBytes(row.shape, "float"); ok != row.want {
			t.Errorf("%v: %d, %v", row.shape, n, ok)
		}
	}
	if n, ok := shapeBytes([]int{int(sampler.MaxPlausible)}, "int8"); ok {
		t.Errorf("%d bytes can be", n)
	}
	if _, ok := shapeBytes([]int{int(sampler.MaxPlausible) - 1<<20}, "int8"); !ok {
		t.Error("a little less cannot be")
	}
}

// What goes from a number to the same does not grow; long lines and more than three are not asked.
func TestChangesAtTheirBounds(t *testing.T) {
	for at, want := range map[string]bool{"1 2": true, "2 2": false, "2 1": false} {
		if got := grows(append([]string{""}, strings.Fields(at)...)); got != want {
			t.Errorf("from %s grows: %v", at, got)
		}
	}
	if !grows([]string{"", "1"}) {
		t.Error("one number alone grows")
	}
	lines := func(texts ...string) (out []*keptLine) {
		for _, text := range texts {
			out = append(out, &keptLine{line: toLine((&whole{text: text}).all(), 1)})
		}
		return out
	}
	const says = "Unfreezing the backbone"
	long := func(n int) string { return says + strings.Repeat(".", n-len(says)) }
	for name, row := range map[string]struct {
		lines []*keptLine
		want  bool
	}{
		"before": {lines(says, "x"), true}, "three before": {lines(says, "b", "c", "x"), true}, "four before": {lines(says, "b", "c", "d", "x"), false}, "blanks between": {lines(says, "", "", "", "x"), true},
		"long": {lines(long(300), "x"), true}, "too long": {lines(long(301), "x"), false}, "none": {lines("x"), false},
	} {
		if got := change(row.lines, len(row.lines)-1); (got != "") != row.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Streams are 64 at a time; the one that was silent longest makes room.
func TestStreamsAreBounded(t *testing.T) {
	s := streams{byKey: map[string]*stream{}}
	of := func(key string) (*stream, *stream) { return s.of(line{origin: origin{key: key}}) }
	for n := range maxStreams {
		st, evicted := of(fmt.Sprint("rank", n))
		if st.used = n + 10; evicted != nil {
			t.Fatalf("%d streams are too many", n+1)
		}
	}
	s.order[5].used = 1
	s.last = s.order[6]
	if st, evicted := of("more"); evicted == nil || evicted.key != "rank5" || len(s.order) != maxStreams || s.last == nil || s.byKey["rank5"] != nil {
		t.Errorf("%+v made room for %s", evicted, st.key)
	} else {
		st.used = 99
	}
	s.last = s.byKey["rank0"]
	if _, evicted := of("another"); evicted.key != "rank0" || s.last != nil {
		t.Errorf("%s made room, the last line is of %v", evicted.key, s.last)
	}
}

// A set has room for 512 words.
func TestMostWords(t *testing.T) {
	var words []string
	for n := range maxWords {
		words = append(words, fmt.Sprintf("w%d.", n))
	}
	var found wordMask
	if set := newWordSet(words); !set.scanString("W511.", &found) || found != set.mask([]string{"w511."}) {
		t.Error("the last word is not found")
	}
	defer func() {
		if recover() == nil {
			t.Error("one word more fits")
		}
	}()
	newWordSet(append(words, "more"))
}

// A text is plain, a byte is a blank or in a word by its place among those of ASCII.
func TestBytes(t *testing.T) {
	for c := range 256 {
		b := byte(c)
		if want := strings.IndexByte(blanks, b) >= 0; isSpace(b) != want {
			t.Errorf("%q is a blank: %v", b, !want)
		}
		if want := strings.IndexByte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", b) >= 0; inWord(b) != want {
			t.Errorf("%q is in a word: %v", b, !want)
		}
		if want := b >= ' ' && b < 0x7f && b != '*' && b != '`'; isPlain("a"+string([]byte{b})+"a") != want {
			t.Errorf("%q is plain: %v", b, !want)
		}
		if want := strings.IndexByte("abcdefghijklmnopqrstuvwxyz", b) >= 0; isLetter(b) != want {
			t.Errorf("%q is a letter: %v", b, !want)
		}
	}
	for text, want := range map[string]string{"\x1b[1ma": "a", "a\x7fb\x1fc": "abc", `\nb`: "|b", `a\nb`: "a|b", `C:\new\nb`: `C:\new\nb`} {
		if got := strings.Join(clean([]byte(text)), "|"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	var m memoryBook
	if got := string(m.lowered([]byte("@AZ[`az{\xc3\x84"))); got != "@az[`az{\xc3\x84" {
		t.Errorf("in lower case %q", got)
	}
	for text, want := range map[string]string{`File "/a/b/c.py", line 3`: "b/c.py", ".py": ".py", "c.py:3": "c.py", "no file": "", `File "C:\a\b\c.py"`: `b\c.py`} {
		if got := fileOf(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if got := string(interesting(bytes.Repeat([]byte("x"), 2*pieceBytes))); len(got) != 2*pieceBytes {
		t.Errorf("%d bytes are left of two pieces", len(got))
	}
	if got := string(interesting(bytes.Repeat([]byte("x"), 2*pieceBytes+1))); got != "" {
		t.Errorf("%d bytes are left of what has no words", len(got))
	}
}
