package tape

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
)

// What encoding/json takes, the scanner takes whole, and what it skips has an end of its own.
func TestScannerTakesJSON(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"{", "}", "[", "]", ",", ":", `"a"`, `"\""`, `""`, "1", "-2.5e3", "true", "false", "null", " ", "\n"}
	valid := 0
	for range 300_000 {
		var b strings.Builder
		for range 1 + random.IntN(7) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		text := b.String()
		if !json.Valid([]byte(text)) {
			continue
		}
		valid++
		s := scanner{b: []byte(text)}
		if raw := s.skip(); !s.end() || string(raw) != strings.TrimSpace(text) {
			t.Fatalf("%q: skipped %q, at the end %v", text, raw, s.end())
		}
		s = scanner{b: []byte(text + ",x")}
		if raw := s.skip(); s.bad || string(raw) != strings.TrimSpace(text) || s.peek() != ',' {
			t.Fatalf("%q before more: skipped %q", text, raw)
		}
	}
	if valid < 1000 {
		t.Errorf("only %d texts were JSON", valid)
	}
	for _, text := range []string{"", " ", "{", "[", `"a`, `"a\"`, "tru", "nul", "truex", "x", "-x", ".5", "+1", "1x", "1a", "{]x", "e", "E", ",", ":", `{"a"`} {
		if s := (scanner{b: []byte(text)}); s.skip() != nil && s.end() {
			t.Errorf("%q is taken for JSON", text)
		}
	}
}

// Objects and lists are walked as they are written; what is none stops the walk.
func TestScannerWalks(t *testing.T) {
	walk := func(text string) (keys []string, ok bool) {
		s := scanner{b: []byte(text)}
		if !s.open('{') {
			return nil, false
		}
		for first := true; ; first = false {
			k, more := s.key(first)
			if !more {
				return keys, s.end()
			}
			keys = append(keys, string(k)+"="+string(s.skip()))
		}
	}
	for text, want := range map[string]string{`{}`: "", ` { "a" : 1 , "b":[2,{"c":3}] } `: `a=1 b=[2,{"c":3}]`, `{"\u0061":"x\"y"}`: `a="x\"y"`, `{"a":1,"b":2}`: "a=1 b=2"} {
		if keys, ok := walk(text); !ok || strings.Join(keys, " ") != want {
			t.Errorf("%q: %q, %v", text, keys, ok)
		}
	}
	for _, text := range []string{"", "[]", `{"a"}`, `{"a" 1}`, `{a:1}`, `{"a":1`, `{"a":1 "b":2}`, `{"a":1,}`, `{,"a":1}`, `{"a":1}x`, `{"a`, `{"\x":1}`, `{"a":`} {
		if keys, ok := walk(text); ok {
			t.Errorf("%q is walked: %q", text, keys)
		}
	}
}

// A value is the number that strconv reads, whatever way it goes.
func TestValuesAreNumbers(t *testing.T) {
	texts := []string{"0", "-0", "5.0", "5e6", "1e9", "123456789e9", "1234567890e1", "12e10", "1e-1", "1E2", "1.", ".5", "1.5.2", "1e", "e1", "", "-", "--1", "1e1e1", "1.5e2",
		"9007199254740991", "9007199254740992", "9007199254740993", "-9007199254740993", "18446744073709551615", "18446744073709551616", "9223372036854775808", "1e19", "9.3e18",
		"123456789012345678", "1234567890123456789", "0.123456789", "0.1234567891", "1234567.123456789", "1e400", "-1", "-2.5", "nan", "1x", "12a"}
	random := rand.New(rand.NewPCG(3, 4))
	for range 100_000 {
		b := make([]byte, 1+random.IntN(9))
		for i := range b {
			b[i] = "0123459.e-"[random.IntN(10)]
		}
		texts = append(texts, string(b))
	}
	for _, text := range texts {
		for _, kind := range []byte{'0', '"'} {
			v := value{kind: kind, b: []byte(text)}
			want, err := strconv.ParseFloat(text, 64)
			fine := err == nil && !math.IsInf(want, 0) && !math.IsNaN(want)
			if got, ok := v.float(); ok != fine || ok && got != want {
				t.Fatalf("%q: float %v (%v), want %v (%v)", text, got, ok, want, fine)
			}
			n, err := strconv.ParseUint(text, 10, 64)
			if whole := fine && want >= 0 && want < 1<<63; err != nil && whole {
				n, err = uint64(want), nil
			}
			if got, ok := v.uint(); ok != (err == nil) || ok && got != n && !strings.ContainsAny(text, ".e") {
				t.Fatalf("%q: uint %v (%v), want %v (%v)", text, got, ok, n, err)
			}
		}
	}
	for _, kind := range []byte("tfn{[") {
		v := value{kind: kind, b: []byte("1")}
		if _, ok := v.float(); ok {
			t.Errorf("kind %c is a float", kind)
		}
		if _, ok := v.uint(); ok {
			t.Errorf("kind %c is whole", kind)
		}
	}
}

// What codecs read of a value, up to where it cannot be.
func TestReadersOfValues(t *testing.T) {
	number := func(s string) value { return value{kind: '0', b: []byte(s)} }
	for text, want := range map[string]bool{"5": true, "-5": true, "9007199254740991": true, "9223372036854775806": true, "9223372036854775807": false, "-9007199254740991": true, "-9007199254740992": false, "x": false} {
		if _, ok := readInt(number(text)); ok != want {
			t.Errorf("%s is an int: %v", text, ok)
		}
	}
	most := strconv.FormatUint(uint64(sampler.MaxPlausible), 10)
	below := strconv.FormatUint(uint64(sampler.MaxPlausible-1), 10)
	for text, want := range map[string]bool{"0": true, below: true, most: false, "-1": false} {
		if _, ok := readBytes(number(text)); ok != want {
			t.Errorf("%s is an amount: %v", text, ok)
		}
	}
	if b, ok := readBytes(value{kind: '"', b: []byte("1.5GiB")}); !ok || b != 3*sampler.GiB/2 {
		t.Errorf("1.5GiB is %v", b)
	}
	for text, want := range map[string]string{"0": "1970-01-01T00:00:00Z", "1.5": "1970-01-01T00:00:01.5Z", "-1": "", "99999999999": "", "9000000000": "2255-03-14T16:00:00Z",
		"100000000001": "1973-03-03T09:46:40.001Z", "1700000000000": "2023-11-14T22:13:20Z", "1e14": "", "1e15": "", "x": ""} {
		at, ok := readTime(number(text))
		if got := at.Format(time.RFC3339Nano); ok != (want != "") || ok && got != want {
			t.Errorf("%s is %s (%v), want %q", text, got, ok, want)
		}
	}
	for _, kind := range []byte("tfn{[") {
		if _, ok := readTime(value{kind: kind, b: []byte("5")}); ok {
			t.Errorf("kind %c is a time", kind)
		}
	}
	for year, want := range map[int]bool{1969: false, 1970: true, 2261: true, 2262: false} {
		if got := isTime(time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC)); got != want {
			t.Errorf("%d is a time of a recording: %v", year, got)
		}
	}
	base := time.Unix(1000, 0)
	for text, want := range map[string]bool{"1e9": true, "-1e9": true, "1000000001": false, "-1000000001": false, "x": false} {
		if _, ok := timeAfter(base, number(text)); ok != want {
			t.Errorf("%s s after a time: %v", text, ok)
		}
	}
	if _, ok := timeAfter(time.Time{}, number("1")); ok {
		t.Error("a second after no time is a time")
	}
}

func TestAppendMilli(t *testing.T) {
	for ms, want := range map[int64]string{0: "0", 12000: "12", 12020: "12.02", -500: "-0.5", 1: "0.001", 10: "0.01", 100: "0.1", 999: "0.999", -1001: "-1.001", 1230: "1.23", 1203: "1.203"} {
		if got := string(appendMilli(nil, ms)); got != want {
			t.Errorf("%d: %s, want %s", ms, got, want)
		}
	}
}

// Two values are equal when they are written alike.
func TestEqualAsWritten(t *testing.T) {
	c, _ := scalarCodec(reflect.TypeFor[float64](), "x")
	o, _ := scalarCodec(reflect.TypeFor[sampler.Opt[float64]](), "x")
	for _, row := range []struct {
		a, b float64
		want bool
	}{{1, 1, true}, {1.0001, 1.0002, true}, {1.001, 1.002, false}} {
		x, y := row.a, row.b
		p, q := sampler.Some(x), sampler.Some(y)
		if c.equal(reflect.ValueOf(&x).Elem(), reflect.ValueOf(&y).Elem()) != row.want || o.equal(reflect.ValueOf(&p).Elem(), reflect.ValueOf(&q).Elem()) != row.want {
			t.Errorf("%v and %v", x, y)
		}
	}
	p, q := sampler.Some(0.0), sampler.Opt[float64]{}
	if o.equal(reflect.ValueOf(&p).Elem(), reflect.ValueOf(&q).Elem()) || !o.equal(reflect.ValueOf(&q).Elem(), reflect.ValueOf(&q).Elem()) {
		t.Error("absent is not 0, but absent")
	}
}

// Zeros at the end of a number are counted, where it has four digits or more.
func TestAppendScaled(t *testing.T) {
	for n, want := range map[uint64]string{0: "0", 990: "990", 999: "999", 1000: "100e1", 1001: "1001", 12345: "12345", 158000000: "158e6", 1580010: "158001e1"} {
		if got := string(appendScaled(nil, n)); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
