package tape

import (
	"reflect"
	"testing"

	"nvpeak/sampler"
)

// Changes of one sweep stand in one line, and what has not changed in none.
func TestMemLines(t *testing.T) {
	var l memLines
	var b []byte
	for _, row := range []struct {
		device  int
		t       int64
		used    sampler.Bytes
		changed bool
	}{{0, 0, 5, true}, {2, 0, 6, true}, {0, 20, 5, false}, {2, 20, 7, true}, {0, 40, 8, true}, {1, 40, 0, true}} {
		var changed bool
		if b, changed = l.add(b, row.device, row.t, row.used); changed != row.changed {
			t.Errorf("%+v: another %v", row, changed)
		}
	}
	b = l.close(l.close(b))
	l.forget()
	b, _ = l.add(b, 0, 40, 8)
	want := `{"type":"mem","t":0,"0":5,"2":6}
{"type":"mem","t":0.02,"2":7}
{"type":"mem","t":0.04,"0":8,"1":0}
{"type":"mem","t":0.04,"0":8`
	if string(b) != want {
		t.Errorf("%s\nwant %s", b, want)
	}
}

// Values that are written whole are written again only when they are others; an empty list is another than none.
func TestWholeValuesEqual(t *testing.T) {
	for name, row := range map[string]struct {
		a, b []string
		want bool
	}{
		"none": {nil, nil, true}, "empty": {[]string{}, []string{}, true}, "empty and none": {[]string{}, nil, false},
		"the same": {[]string{"x"}, []string{"x"}, true}, "others": {[]string{"x"}, []string{"y"}, false}, "more": {[]string{}, []string{"y"}, false},
	} {
		if got := wholeCodec(reflect.TypeFor[[]string]()).equal(reflect.ValueOf(row.a), reflect.ValueOf(row.b)); got != row.want {
			t.Errorf("%s: equal %v", name, got)
		}
	}
}
