package ui

import "testing"

// A text moves no further than its end comes into sight: a short one stays.
func TestFrom(t *testing.T) {
	v := bare()
	for _, row := range []struct {
		text          string
		columns, room int
		want          string
	}{
		{"sleep 1500", 32, 20, "sleep 1500"}, {"sleep 1500", 16, 10, "sleep 1500"}, {"0123456789", 4, 6, "…56789"}, {"0123456789", 64, 6, "…56789"},
		{"0123456789", 2, 6, "…3456789"}, {"", 16, 6, ""}, {"训练模型脚本", 64, 6, "…脚本"}, {"0123456789", 0, 6, "0123456789"},
	} {
		if got := v.from(row.text, row.columns, row.room); got != row.want {
			t.Errorf("%q by %d in %d: %q, want %q", row.text, row.columns, row.room, got, row.want)
		}
	}
}
