package tape

import (
	"fmt"
	"testing"
	"time"

	"nvpeak/sampler"
)

// A snapshot that comes over three steps and two seconds after the one before follows a gap; lines that are a second
// or more earlier than the ones before follow a clock that was set back, but old Xid errors may stand anywhere.
func TestTimelineBounds(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(5000, 0).UTC().Add(time.Duration(ms) * time.Millisecond) }
	snapshot := func(ms int) Record { return Record{Time: at(ms), Snapshot: &sampler.Snapshot{Time: at(ms)}} }
	readings := func(ms int) Record { return Record{Time: at(ms), Readings: []Reading{{}}} }
	happened := func(ms int, kind string) Record { return Record{Time: at(ms), Event: &Event{Time: at(ms), Kind: kind}} }
	for name, row := range map[string]struct {
		records []Record
		even    bool
		want    string // kinds and seconds of events
	}{
		"late":                     {[]Record{snapshot(0), snapshot(1000), snapshot(6000)}, false, "[]"},
		"too late":                 {[]Record{snapshot(0), snapshot(1000), snapshot(6001)}, false, "[gap 5.001]"},
		"the second, ever so late": {[]Record{snapshot(0), snapshot(900_000)}, false, "[]"},
		"by the shortest step":     {[]Record{snapshot(0), snapshot(2000), snapshot(3000), snapshot(8001)}, false, "[gap 5.001]"},
		"in disorder":              {[]Record{snapshot(0), snapshot(2000), snapshot(1001)}, false, "[time_backwards 0.999]"},
		"set back":                 {[]Record{snapshot(0), snapshot(2000), snapshot(1000), snapshot(3000)}, false, "[time_backwards 1]"},
		"set back, times are even": {[]Record{snapshot(0), snapshot(2000), snapshot(1000)}, true, "[time_backwards 1]"},
		"readings before":          {[]Record{snapshot(1000), readings(1500), readings(501)}, false, "[]"},
		"readings set back":        {[]Record{snapshot(1000), readings(1500), readings(500)}, false, "[time_backwards 1]"},
		"an event set back":        {[]Record{snapshot(5000), happened(4000, KindOOM)}, false, "[time_backwards 1]"},
		"an event just before":     {[]Record{snapshot(5000), happened(4001, KindOOM)}, false, "[]"},
		"an old Xid error":         {[]Record{snapshot(5000), happened(0, KindXID)}, false, "[]"},
	} {
		var line timeline
		var n notes
		got := []string{}
		for _, r := range row.records {
			for _, e := range line.pass(&r, &n, row.even) {
				got = append(got, fmt.Sprintf("%s %v", e.Event.Kind, e.Event.Dur.Or(0)))
			}
			if !r.Time.Equal(at(0)) && r.Snapshot != nil && !row.even && r.Snapshot.Time != r.Time {
				t.Errorf("%s: a snapshot of %v in a record of %v", name, r.Snapshot.Time, r.Time)
			}
		}
		if fmt.Sprint(got) != row.want {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
}

// Ten lines are told by their numbers, and that there are more.
func TestCountedLines(t *testing.T) {
	say := func(id string, values ...any) string { return id + fmt.Sprint(values[1]) }
	for lines, want := range map[int]string{
		1: "count.line.one1", 2: "count.line.many1, 2", 10: "count.line.many1, 2, 3, 4, 5, 6, 7, 8, 9, 10",
		11: "count.line.many1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …",
	} {
		var c counted
		for n := range lines {
			c.add(n + 1)
		}
		if got := c.lines(say); got != want {
			t.Errorf("%d lines: %q, want %q", lines, got, want)
		}
	}
}
