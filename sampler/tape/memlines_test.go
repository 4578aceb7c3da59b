package tape

import (
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
